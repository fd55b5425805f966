"""Where HTTP/1.1 messages begin in a plaintext stream: enough of RFC 9112 to find the next one, nothing more."""
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    position: int  # of its first byte in the plaintext stream
    start_line: bytes

    @property
    def method(self):
        return self.start_line.split(b" ")[0].decode("latin-1")

    @property
    def status(self):
        return int(self.start_line.split(b" ")[1])


def head_of(text, position):
    """(start line, headers by lower-case name, position behind the blank line); None where it is not complete."""
    end = text.find(b"\r\n\r\n", position)
    if end < 0:
        return None
    lines = text[position:end].split(b"\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip().lower()
    return lines[0], headers, end + 4


def behind_chunks(text, position):
    while True:
        line_end = text.find(b"\r\n", position)
        if line_end < 0:
            return len(text)
        size = int(text[position:line_end].split(b";")[0], 16)
        position = line_end + 2 + size + 2
        if size == 0:
            return position


def behind_body(text, headers, position, until_close):
    if headers.get(b"transfer-encoding", b"").endswith(b"chunked"):
        return behind_chunks(text, position)
    if b"content-length" in headers:
        return position + int(headers[b"content-length"])
    return len(text) if until_close else position


def requests(text):
    found, position = [], 0
    while position < len(text):
        line_end = text.find(b"\r\n", position)
        start_line = text[position:line_end if line_end >= 0 else len(text)]
        if not re.match(rb"[A-Z]+ \S+ HTTP/1\.[01]$", start_line):
            break
        found.append(Message(position, start_line))
        head = head_of(text, position)
        if head is None:
            break
        position = behind_body(text, head[1], head[2], until_close=False)
    return found


def responses(text, methods):
    """Final responses, one per method in `methods`; interim ones (1xx) are passed over."""
    found, position = [], 0
    while position < len(text) and len(found) < len(methods):
        line_end = text.find(b"\r\n", position)
        start_line = text[position:line_end if line_end >= 0 else len(text)]
        if not re.match(rb"HTTP/1\.[01] \d\d\d", start_line):
            break
        message = Message(position, start_line)
        interim = 100 <= message.status < 200 and message.status != 101
        head = head_of(text, position)
        if not interim:
            found.append(message)
        if head is None:
            break
        bodiless = interim or methods[len(found) - 1] == "HEAD" or message.status in (204, 304)
        position = head[2] if bodiless else behind_body(text, head[1], head[2], until_close=True)
    return found
