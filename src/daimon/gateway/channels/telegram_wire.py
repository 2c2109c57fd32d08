"""What Telegram says of an update, as far as it is used. All else is left out."""

from pydantic import BaseModel, Field


class User(BaseModel):
    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username


class Chat(BaseModel):
    id: int
    type: str = "private"
    title: str = ""


class Entity(BaseModel):
    """A stretch of the text, counted in units of UTF-16."""

    type: str
    offset: int
    length: int
    user: User | None = None


class Media(BaseModel):
    file_id: str
    file_size: int = 0
    file_name: str = ""
    mime_type: str = ""
    duration: float | None = None
    width: int = 0
    height: int = 0


class Sticker(BaseModel):
    emoji: str = ""


class Location(BaseModel):
    latitude: float
    longitude: float


class Venue(BaseModel):
    title: str = ""
    address: str = ""


class Contact(BaseModel):
    first_name: str = ""
    last_name: str = ""
    phone_number: str = ""


class Poll(BaseModel):
    question: str = ""


class Origin(BaseModel):
    sender_user: User | None = None
    sender_user_name: str = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None

    @property
    def name(self) -> str:
        chat = self.sender_chat or self.chat
        return self.sender_user.name if self.sender_user else self.sender_user_name or (chat.title if chat else "")


class Note(BaseModel):
    """A message."""

    message_id: int
    chat: Chat
    date: int = 0
    edit_date: int = 0
    sender: User | None = Field(default=None, alias="from")
    sender_chat: Chat | None = None
    message_thread_id: int | None = None
    is_topic_message: bool = False
    reply_to_message: "Note | None" = None
    forward_origin: Origin | None = None
    text: str = ""
    entities: list[Entity] = []
    caption: str = ""
    caption_entities: list[Entity] = []
    photo: list[Media] = []
    document: Media | None = None
    animation: Media | None = None
    video: Media | None = None
    video_note: Media | None = None
    voice: Media | None = None
    audio: Media | None = None
    sticker: Sticker | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None


class Query(BaseModel):
    """A button was pressed."""

    id: str
    sender: User = Field(alias="from")
    message: Note | None = None
    data: str = ""


class Sign(BaseModel):
    type: str = ""
    emoji: str = ""


class Reaction(BaseModel):
    chat: Chat
    message_id: int
    date: int = 0
    user: User | None = None
    actor_chat: Chat | None = None
    old_reaction: list[Sign] = []
    new_reaction: list[Sign] = []


class Update(BaseModel):
    update_id: int
    message: Note | None = None
    edited_message: Note | None = None
    callback_query: Query | None = None
    message_reaction: Reaction | None = None
