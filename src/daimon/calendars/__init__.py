"""Calendars on servers, by CalDAV. Drivers of `abi.calendar.Calendars`."""
