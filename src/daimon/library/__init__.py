"""The skills of a home: installed, pinned, updated, removed without residue."""
