"""The Web API by its documentation: what each method takes, refuses and answers."""

from itertools import count

from pydantic import JsonValue

from daimon.testing.slack.workspace import BOT, Conversation, Event, Workspace, buttons
from daimon.testing.telegram.arguments import Arguments

MOST_TEXT = 40_000
MOST_SECTION = 3_000


class Refusal(Exception):
    """`ok: false`, with this code."""


class Methods:
    def __init__(self, workspace: Workspace, url: str, socket_url: str) -> None:
        self._workspace, self._url, self._socket_url = workspace, url, socket_url
        self._uploads: dict[str, tuple[str, bytes]] = {}
        self._numbers = count(1)

    def call(self, method: str, args: Arguments) -> Event:
        match method:
            case "auth.test":
                return {"user_id": BOT, "team_id": "T0", "bot_id": "B0"}
            case "apps.connections.open":
                return {"url": f"{self._socket_url}/link?ticket={next(self._numbers)}"}
            case "chat.postMessage":
                return self._post(args)
            case "chat.update":
                return self._update(args)
            case "conversations.info":
                found = self._conversation(args)
                return {"channel": {"id": found.id, "is_im": found.is_im}}
            case "users.conversations":
                every = self._workspace.conversations.values()
                return {"channels": [{"id": each.id, "is_im": each.is_im} for each in every]}
            case "conversations.history" | "conversations.replies":
                return self._history(args)
            case "files.getUploadURLExternal" | "files.completeUploadExternal":
                return self._file(method, args)
            case _:
                raise Refusal("unknown_method")

    def upload(self, id_: str, data: bytes) -> bool:
        if id_ not in self._uploads:
            return False
        self._uploads[id_] = self._uploads[id_][0], data
        return True

    def _post(self, args: Arguments) -> Event:
        text, blocks = args.text("text"), args.json("blocks")
        conversation = self._conversation(args)
        if not text and not blocks:
            raise Refusal("no_text")
        if len(text) > MOST_TEXT:
            raise Refusal("msg_too_long")
        self._check_blocks(blocks)
        said: Event = {"text": text, "metadata": args.json("metadata")}
        said |= {"blocks": blocks} if blocks else {}
        said |= {"thread_ts": args.text("thread_ts")} if args.text("thread_ts") else {}
        message = self._workspace.posts(conversation.id, said)
        return {"ts": message["ts"], "channel": conversation.id, "message": message}

    def _update(self, args: Arguments) -> Event:
        message = self._workspace.find(self._conversation(args).id, args.text("ts"))
        if message is None:
            raise Refusal("message_not_found")
        if message.get("user") != BOT:
            raise Refusal("cant_update_message")
        self._check_blocks(args.json("blocks"))
        message |= {"text": args.text("text"), "blocks": args.json("blocks") or []}
        return {"ts": message["ts"]}

    def _check_blocks(self, blocks: JsonValue) -> None:
        for block in blocks if isinstance(blocks, list) else ():
            match block:
                case {"type": "section", "text": {"type": "mrkdwn", "text": str(text)}} if 0 < len(text) <= MOST_SECTION:
                    pass
                case {"type": "actions", "elements": list(elements)} if 0 < len(elements) <= 25:
                    names = [str(each["action_id"]) for each in buttons({"blocks": [block]})]
                    if len(set(names)) != len(names):
                        raise Refusal("invalid_blocks")
                case _:
                    raise Refusal("invalid_blocks")

    def _history(self, args: Arguments) -> Event:
        found = self._conversation(args).messages
        oldest, thread, limit = args.text("oldest") or "0", args.text("ts"), args.number("limit") or 100
        kept = [each for each in found if str(each["ts"]) > oldest]
        if thread:
            kept = [each for each in found if each["ts"] == thread or (each.get("thread_ts") == thread and str(each["ts"]) > oldest)]
        else:
            kept = [each for each in reversed(kept) if "thread_ts" not in each or each["thread_ts"] == each["ts"]]
        start = int(args.text("cursor") or 0)
        page = [_shown(each, args.json("include_all_metadata") is True) for each in kept[start : start + limit]]
        after = str(start + limit) if start + limit < len(kept) else ""
        return {"messages": list(page), "response_metadata": {"next_cursor": after}}

    def _file(self, method: str, args: Arguments) -> Event:
        if method == "files.getUploadURLExternal":
            id_ = f"F{next(self._numbers)}UP"
            self._uploads[id_] = args.text("filename"), b""
            return {"upload_url": f"{self._url}/upload/{id_}", "file_id": id_}
        channel, files = args.text("channel_id"), args.json("files")
        if channel not in self._workspace.conversations:
            raise Refusal("channel_not_found")
        for file in files if isinstance(files, list) else ():
            assert isinstance(file, dict)
            id_ = str(file["id"])
            name, data = self._uploads[id_]
            self._workspace.files[id_] = data
            shown: Event = {"id": id_, "name": name, "title": file.get("title", name), "size": len(data)}
            thread: Event = {"thread_ts": args.text("thread_ts")} if args.text("thread_ts") else {}
            self._workspace.posts(channel, {"text": "", "files": [shown], **thread})
        return {"files": files}

    def _conversation(self, args: Arguments) -> Conversation:
        found = self._workspace.conversations.get(args.text("channel"))
        if found is None:
            raise Refusal("channel_not_found")
        return found


def _shown(message: Event, with_metadata: bool) -> Event:
    return message if with_metadata else {name: value for name, value in message.items() if name != "metadata"}
