"""What an automation looks at, in words."""

from daimon.abi.watch import Watch, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs


def in_words(watch: Watch | None) -> str:
    match watch:
        case None:
            return ""
        case WatchFeed(urls=urls):
            return f"{'the feed' if len(urls) == 1 else 'the feeds'} {', '.join(urls)}"
        case WatchPage(url=url, selector=selector):
            return f"the page {url}" + (f", only {selector}" if selector else "")
        case WatchMailbox(folder=folder):
            return f"mail in {folder}"
        case WatchFiles(globs=globs):
            return f"files {', '.join(globs)}"
        case WatchRefs(repository=repository, refs=refs):
            return f"{', '.join(refs) or 'branches and tags'} of {repository}"
        case WatchOutput(command=command):
            return f"the output of {command}"
        case WatchHook(hook=hook):
            return f"what the webhook {hook} collects"
