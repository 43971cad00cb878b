#!/usr/bin/env python3
"""The smallest receiver of Tutti: plays PCM in step with other rooms, into a WAV file instead of a sound card.

Written from docs/protocol/smallest-receiver.md alone; needs nothing but Python 3 and OpenSSL 3 on Linux.

    receiver.py kitchen.wav --port 7771        then: tutti play song.flac --at 127.0.0.1:7771 --codec pcm
"""
import argparse
import array
import ctypes
import hashlib
import math
import os
import selectors
import signal
import socket
import struct
import sys
import time

FLICKS = 705_600_000  # in a second
CAPACITY = 8 << 20  # bytes
SILENCE = 10_000_000_000  # ns
COMMIT_HORIZON = 50_000_000  # ns; frames are recorded when their time has come, so nothing is rendered ahead
MASK = (1 << 64) - 1
IDLE, PRIMING, READY, PLAYING, PAUSED, STARVED = 1, 2, 3, 4, 5, 6
HELLO, ANCHOR, FLUSH, SETTINGS, WELCOME, REFUSE, CREDIT, FLUSHED = 1, 2, 3, 4, 0x101, 0x102, 0x103, 0x104
STREAM_VOLUME, PROVE, STATUS, GOODBYE, ATTACH, FORMAT, PACKET = 7, 8, 0x106, 0x201, 0x301, 0x302, 0x303
FROM_RECEIVERS = range(WELCOME, 0x108)
BUSY, VERSION, VIOLATION, TIMEOUT, REPLACED, LENT, FINISHED = 1, 2, 3, 4, 5, 6, 1


class Broken(Exception):
    """The other side breaks the rules; says how."""


class OpenSSL:
    """Calls libssl and libcrypto. Python's own ssl module takes no certificate that nobody has signed."""

    libraries = [ctypes.CDLL(name) for name in ("libssl.so.3", "libcrypto.so.3")]

    def __getattr__(self, name):
        library = next(library for library in self.libraries if hasattr(library, name))
        function = getattr(library, name)
        function.restype = ctypes.c_long if name in ("BIO_ctrl_pending", "SSL_get_error") else ctypes.c_void_p

        def call(*arguments):
            # Numbers as they are where C has int; pointers, which are large, whole.
            wrapped = [ctypes.c_void_p(a) if isinstance(a, int) and a > 1 << 31 else a for a in arguments]
            return function(*wrapped)

        return call


openssl = OpenSSL()


def truth(result):
    """What a C function that answers an int means; as a pointer it was widened."""
    return ctypes.c_int((result or 0) & 0xFFFFFFFF).value


class Identity:
    """An Ed25519 key with its certificate, and how to speak TLS with it."""

    Verify = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    Select = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ubyte),
        ctypes.POINTER(ctypes.c_ubyte), ctypes.c_uint, ctypes.c_void_p)
    ED25519, PROTOCOL = 1087, b"\x07tutti/2"

    def __init__(self):
        key = openssl.EVP_PKEY_new_raw_private_key(self.ED25519, None, os.urandom(32), ctypes.c_size_t(32))
        certificate = openssl.X509_new()
        openssl.X509_set_version(certificate, 2)
        openssl.ASN1_TIME_set_string(openssl.X509_getm_notBefore(certificate), b"19700101000000Z")
        openssl.ASN1_TIME_set_string(openssl.X509_getm_notAfter(certificate), b"99991231235959Z")
        openssl.X509_set_pubkey(certificate, key)
        openssl.X509_sign(certificate, key, None)
        self.id = self.identifier(key)
        self.context = openssl.SSL_CTX_new(openssl.TLS_server_method())
        openssl.SSL_CTX_ctrl(self.context, 123, ctypes.c_long(0x0304), None)  # TLS 1.3 at least
        openssl.SSL_CTX_use_certificate(self.context, certificate)
        openssl.SSL_CTX_use_PrivateKey(self.context, key)
        openssl.SSL_CTX_set_num_tickets(self.context, ctypes.c_size_t(0))
        # Kept, for OpenSSL calls them.
        self.verify, self.select = self.Verify(lambda store, _: 1), self.Select(self.selected)
        openssl.SSL_CTX_set_verify(self.context, 3, None)  # a certificate, or no handshake
        openssl.SSL_CTX_set_cert_verify_callback(self.context, self.verify, None)
        openssl.SSL_CTX_set_alpn_select_cb(self.context, self.select, None)

    def selected(self, _, chosen, chosenCount, offers, count, __):
        place = bytes(offers[:count]).find(self.PROTOCOL)
        if place < 0:
            return 2
        chosen[0] = ctypes.addressof(offers.contents) + place + 1
        chosenCount[0] = len(self.PROTOCOL) - 1
        return 0

    def identifier(self, key):
        raw, count = ctypes.create_string_buffer(32), ctypes.c_size_t(32)
        check(key and truth(openssl.EVP_PKEY_get_base_id(key)) == self.ED25519, "no Ed25519 key")
        openssl.EVP_PKEY_get_raw_public_key(key, raw, ctypes.byref(count))
        return hashlib.sha256(raw.raw).digest()[:16]


class Secure:
    """One connection's TLS, as its server."""

    def __init__(self, identity):
        self.identity, self.peer, self.clockKey = identity, None, bytes(16)
        self.ssl = openssl.SSL_new(identity.context)
        self.input, self.output = (openssl.BIO_new(openssl.BIO_s_mem()) for _ in range(2))
        openssl.SSL_set_bio(self.ssl, self.input, self.output)
        openssl.SSL_set_accept_state(self.ssl)
        self.buffer = ctypes.create_string_buffer(1 << 16)

    def __del__(self):
        openssl.SSL_free(self.ssl)

    def receive(self, data):
        openssl.ERR_clear_error()
        openssl.BIO_write(self.input, data, len(data))
        if self.peer is None:
            result = truth(openssl.SSL_do_handshake(self.ssl))
            if result != 1:
                check(openssl.SSL_get_error(self.ssl, result) == 2, "the handshake failed")
                return b""
            self.meet()
        plain = b""
        while (count := truth(openssl.SSL_read(self.ssl, self.buffer, len(self.buffer)))) > 0:
            plain += self.buffer.raw[:count]
        check(openssl.SSL_get_error(self.ssl, count) in (2, 6), "a record is damaged")
        return plain

    def meet(self):
        certificate = openssl.SSL_get1_peer_certificate(self.ssl)
        self.peer = self.identity.identifier(openssl.X509_get0_pubkey(certificate))
        openssl.X509_free(certificate)
        key, label = ctypes.create_string_buffer(16), b"EXPORTER-tutti-clock"
        openssl.SSL_export_keying_material(
            self.ssl, key, ctypes.c_size_t(16), label, ctypes.c_size_t(len(label)), None, ctypes.c_size_t(0), 0)
        self.clockKey = key.raw

    def send(self, data):
        if self.peer:
            openssl.SSL_write(self.ssl, data, len(data))

    def takeOutput(self):
        count = openssl.BIO_ctrl_pending(self.output)
        data = ctypes.create_string_buffer(max(count, 1))
        openssl.BIO_read(self.output, data, count)
        return data.raw[:count]


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def text(string):
    data = string.encode()
    return struct.pack(">H", len(data)) + data


def unpack(layout, payload):
    if len(payload) < struct.calcsize(layout):
        raise Broken("a message is too short")
    return struct.unpack_from(layout, payload)


def check(isRight, what):
    if not isRight:
        raise Broken(what)


def gain(volume, flags):
    check(volume <= 1000, "a volume out of range")
    share = volume / 1000
    return 0.0 if flags & 1 else (share + 7 * share**3) / 8


def sipHash(key, data):
    """SipHash-2-4 of 56 bytes, which are seven words."""
    k0, k1 = struct.unpack("<QQ", key)
    a, b, c, d = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def turn(x, bits):
        return (x << bits | x >> 64 - bits) & MASK

    for word, rounds in [(w, 2) for w in struct.unpack("<7Q", data) + (len(data) << 56,)] + [(None, 4)]:
        if word is None:
            c ^= 0xFF
        else:
            d ^= word
        for _ in range(rounds):
            a, c = (a + b) & MASK, (c + d) & MASK
            b, d, a = turn(b, 13) ^ a, turn(d, 16) ^ c, turn(a, 32)
            c, a = (c + b) & MASK, (a + d) & MASK
            b, d, c = turn(b, 17) ^ c, turn(d, 21) ^ a, turn(c, 32)
        if word is not None:
            a ^= word
    return struct.pack("<Q", a ^ b ^ c ^ d)


class Connection:
    def __init__(self, sock, identity):
        self.socket, self.kind, self.limit, self.secure = sock, "new", 1024, Secure(identity)
        self.input, self.received, self.since = bytearray(), 0, now()
        sock.setblocking(False)

    def messages(self):
        while len(self.input) >= 4:
            length = struct.unpack_from(">I", self.input)[0]
            check(2 <= length <= self.limit, f"a message of {length} bytes")
            if len(self.input) < 4 + length:
                return
            kind, payload = struct.unpack_from(">H", self.input, 4)[0], bytes(self.input[6 : 4 + length])
            del self.input[: 4 + length]
            yield kind, payload

    def receive(self):
        """Nothing at the end of the stream."""
        data = self.socket.recv(1 << 16)
        self.input += self.secure.receive(data) if data else b""
        self.flush()
        return data

    def send(self, kind, payload):
        self.sendBytes(struct.pack(">IH", len(payload) + 2, kind) + payload)

    def sendBytes(self, data):
        self.secure.send(data)
        self.flush()

    def flush(self):
        try:
            self.socket.send(self.secure.takeOutput())
        except OSError:
            pass  # Reading finds out.


class GroupClock:
    """The bounds that all time exchanges set to group time less local time."""

    def __init__(self, clockID, address):
        self.id, self.address, self.count, self.sequence = clockID, address, 0, 0
        self.session, self.key = 0, bytes(16)
        self.low, self.high, self.last, self.due, self.sent = -(1 << 62), 1 << 62, now(), 0, {}
        self.roundTrip = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)

    def ask(self, at):
        self.sequence += 1
        self.due = at + (20_000_000 if self.sequence < 32 else 100_000_000)
        self.sent = {k: v for k, v in self.sent.items() if k > self.sequence - 16}
        self.sent[self.sequence] = t1 = now()
        head = struct.pack(">4sBBHQIIq24x", b"TUTI", 2, 1, 0, self.id, self.sequence, self.session & 0xFFFFFFFF, t1)
        try:
            self.socket.sendto(head + sipHash(self.key, head), self.address)
        except OSError:
            pass  # The next one may come through.

    def answered(self):
        data, t4 = self.socket.recv(2048), now()
        if len(data) < 64:
            return
        magic, version, kind, _, clockID, sequence, _, t1, t2, t3 = struct.unpack_from(">4sBBHQIIqqq", data)
        if data[56:64] != sipHash(self.key, data[:56]):
            return
        if (magic, version, kind, clockID) != (b"TUTI", 2, 2, self.id) or self.sent.pop(sequence, None) != t1:
            return
        drift = (t4 - self.last) * 100 // 1_000_000
        low, high = max(self.low - drift, t3 - t4), min(self.high + drift, t2 - t1)
        if low > high:
            low, high = t3 - t4, t2 - t1
        self.low, self.high, self.last, self.roundTrip = low, high, t4, max(0, (t4 - t1) - (t3 - t2))
        self.count += 1

    isLocked = property(lambda self: self.count >= 8)
    offset = property(lambda self: (self.low + self.high) // 2)


class Block:
    """A packet's frames; `first` is the number of the first since the stream began."""

    def __init__(self, first, count, payload, form, isRamped):
        self.first, self.end, self.payload, self.form, self.isRamped = first, first + count, payload, form, isRamped
        self.cost = len(payload) + 62

    def stereo(self, start, end):
        channels, kind, size = self.form.channels, self.form.kind, self.form.frameSize
        data = self.payload[(start - self.first) * size : (end - self.first) * size]
        if kind == 2:
            samples = [int.from_bytes(data[i : i + 3], "little", signed=True) / 8388608 for i in range(0, len(data), 3)]
        else:
            samples = array.array({1: "h", 3: "i", 4: "f"}[kind], data)
            scale = {1: 1 / 32768, 3: 1 / 2147483648, 4: 1}[kind]
            samples = [sample * scale for sample in samples]
        out = array.array("f", bytes(8 * (end - start)))
        out[0::2] = array.array("f", samples[0::channels])
        out[1::2] = array.array("f", samples[min(1, channels - 1) :: channels])
        return out


class Form:
    def __init__(self, payload):
        self.id, self.codec, self.rate, self.channels, self.kind, _ = unpack(">HHIBBH", payload)
        check(8000 <= self.rate <= 192_000 and FLICKS % self.rate == 0, f"a sample rate of {self.rate}")
        check(self.id < 256 and 1 <= self.channels <= 8 and 1 <= self.kind <= 4, "a format that is none")
        self.flicks = FLICKS // self.rate
        self.frameSize = self.channels * {1: 2, 2: 3, 3: 4, 4: 4}[self.kind]


class Stream:
    """What belongs to a clock id: generation, cuts, anchors and audio."""

    def __init__(self):
        self.generation, self.cuts, self.next, self.blocks, self.anchors, self.gain = 0, [], 0, [], [], 1.0
        self.formats, self.ended, self.corrupt, self.rampFrom, self.isAttached = {}, False, 0, None, True
        self.end = 0  # of the packet taken last, in flicks; 0 where none was since the last cut

    def packet(self, payload):
        stream, generation, sequence, start, formatID, flags, count, skipped, size = unpack(">IIQqHHIII", payload)
        form = self.formats.get(formatID)
        data = payload[56 : 56 + size]
        if stream != 0:
            return
        if form is None or start % form.flicks or flags & 4 or len(data) < (skipped + count) * form.frameSize:
            self.corrupt += 1
            return
        if sequence < self.next and self.isAttached:
            return
        if sequence < self.next:
            self.blocks, self.end = [], 0  # The sender goes back behind a hole.
        self.isAttached = True
        if generation > self.generation:
            self.cut(start, generation, True)
        limit = min((f for f, g in self.cuts if g > generation), default=1 << 61)
        if start >= limit:
            return
        check(self.end - start <= form.flicks, "a packet begins before the one before it ends")
        if start < self.end and count:  # The sender has rounded down where two rates join.
            start, skipped, count = start + form.flicks, skipped + 1, count - 1
        self.next, self.ended = sequence + 1, bool(flags & 2)
        first = start // form.flicks
        count = max(0, min(count, -(-(limit - start) // form.flicks)))
        self.end = start + count * form.flicks
        isRamped = self.rampFrom is not None and start >= self.rampFrom
        if isRamped:
            self.rampFrom = None
        if count:
            data = data[skipped * form.frameSize : (skipped + count) * form.frameSize]
            self.blocks.append(Block(first, count, data, form, isRamped))

    def cut(self, start, generation, isRamped):
        if generation <= self.generation:
            return
        self.generation, self.ended, self.rampFrom, self.end = generation, False, start if isRamped else None, 0
        self.cuts = (self.cuts + [(start, generation)])[-32:]
        for block in self.blocks:
            block.end = min(block.end, -(-start // block.form.flicks))
        self.blocks = [block for block in self.blocks if block.end > block.first]

    def anchor(self, media, group, rate):
        self.anchors = [a for a in self.anchors if a[1] < group][-4:] + [(media, group, rate)]

    def held(self, playhead):
        return sum(block.cost for block in self.blocks if block.end > playhead)

    def bufferedUntil(self, playhead):
        """In flicks."""
        end = None
        for block in self.blocks:
            if block.end <= playhead or end and block.first > end // block.form.flicks:
                continue
            end = block.end * block.form.flicks
        return end or 0


class Recorder:
    """A sound card that is exact: frame n of the file is heard at `start` + n / rate."""

    def __init__(self, path, rate):
        self.rate, self.start, self.count = rate, now(), 0
        self.flicks, self.ramp = FLICKS // rate, rate // 200
        self.position, self.playhead, self.state = None, 0, IDLE
        self.level, self.gain, self.tail = 0, 1.0, array.array("f")
        self.file = open(path, "wb")
        self.file.write(bytes(58))

    def close(self):
        self.tail.tofile(self.file)
        size = self.file.tell()
        self.file.seek(0)
        head = struct.pack("<4sI4s4sIHHIIHHH", b"RIFF", size - 8, b"WAVE", b"fmt ", 18, 3, 2, self.rate, self.rate * 8, 8, 32, 0)
        self.file.write(head + struct.pack("<4sII4sI", b"fact", 4, (size - 58) // 8, b"data", size - 58))
        self.file.close()

    def record(self, until, stream, offset, room):
        """Everything that is heard up to local time `until`."""
        chunk = self.rate // 100
        while self.start + (self.count + chunk) * 1_000_000_000 // self.rate <= until:
            left = chunk
            while left > 0:
                group = self.start + self.count * 1_000_000_000 // self.rate + (offset or 0) - room.delay
                left -= self.recordRun(left, group, stream, offset is not None, room)

    def recordRun(self, count, group, stream, isLocked, room):
        """As many frames as one anchor holds for; answers how many."""
        anchor = next((a for a in reversed(stream.anchors) if a[1] <= group), None) if isLocked else None
        following = next((a for a in stream.anchors if a[1] > group), None)
        if following and isLocked:
            count = min(count, -(-(following[1] - group) * self.rate // 1_000_000_000))
        if anchor is None or anchor[2] == 0:
            self.position = None
            self.state = PAUSED if anchor else IDLE
            self.playhead = anchor[0] // self.flicks if anchor else 0
            self.silence(count)
        else:
            media = anchor[0] + (group - anchor[1]) * 7056 // 10_000
            self.follow((media + self.flicks // 2) // self.flicks)
            self.state = STARVED
            self.play(count, stream, room)
            self.position += count
            self.playhead = self.position
        self.count += count
        stream.blocks = [block for block in stream.blocks if block.end > self.playhead - self.rate // 2]
        return count

    def follow(self, wanted):
        error = wanted - self.position if self.position is not None else 1 << 40
        if abs(error) > self.rate // 100:
            self.fadeOut()
            self.position = wanted
        elif abs(error) > 8:
            self.position += 1 if error > 0 else -1

    def play(self, count, stream, room):
        place, end = self.position, self.position + count
        while place < end:
            block = next((b for b in stream.blocks if b.end > place and b.form.rate == self.rate), None)
            if block is None or block.first >= end:
                return self.silence(end - place)
            if block.first > place:
                self.silence(block.first - place)
                place = block.first
            if block.isRamped and place == block.first:
                self.fadeOut()
            until = min(end, block.end)
            self.sound(block.stereo(place, until), room, room.gain * stream.gain)
            self.state = PLAYING
            place = until

    def sound(self, frames, room, wanted):
        left, right = frames[0::2], frames[1::2]
        if room.map == 2:
            frames[1::2] = left
        elif room.map == 3:
            frames[0::2] = right
        elif room.map == 4:
            frames[0::2] = frames[1::2] = array.array("f", [(a + b) / 2 for a, b in zip(left, right)])
        for i in range(0, len(frames), 2):
            if self.level >= self.ramp and self.gain == wanted == 1:
                break
            step = 50 / self.rate
            self.gain = max(wanted, self.gain - step) if wanted < self.gain else min(wanted, self.gain + step)
            share = self.gain * (0.5 - 0.5 * math.cos(math.pi * min(1, self.level / self.ramp)))
            frames[i], frames[i + 1] = frames[i] * share, frames[i + 1] * share
            self.level += 1
        self.write(frames)

    def silence(self, count):
        self.fadeOut()
        self.write(array.array("f", bytes(8 * count)))

    def fadeOut(self):
        """Of what was played last and is still kept; what follows fades in."""
        if self.level > 0:
            frames = len(self.tail) // 2
            for i in range(frames):
                share = 0.5 - 0.5 * math.cos(math.pi * (frames - i) / self.ramp)
                self.tail[2 * i] *= share
                self.tail[2 * i + 1] *= share
        self.level = 0

    def write(self, frames):
        self.tail += frames
        keep = 2 * self.ramp
        if len(self.tail) > keep:
            self.tail[:-keep].tofile(self.file)
            self.tail = self.tail[-keep:]


class Room:
    def __init__(self):
        self.set(1000, 0, 1, 0)

    def set(self, volume, flags, channelMap, delay):
        check(1 <= channelMap <= 4 and abs(delay) <= 2_000_000_000, "settings out of range")
        self.volume, self.isMuted, self.map, self.delay = volume, flags & 1, channelMap, delay
        self.gain = gain(volume, flags)


class Receiver:
    def __init__(self, path, name, port):
        self.path, self.name, self.identity = path, name, Identity()
        self.id = self.identity.id
        self.listener = socket.create_server(("", port))
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.connections, self.control, self.media = [], None, None
        self.stream, self.clock, self.recorder, self.room = Stream(), None, None, Room()
        self.sender, self.session, self.heard, self.state = None, None, 0, IDLE
        self.statusDue = self.creditDue = self.limit = 0

    @property
    def port(self):
        return self.listener.getsockname()[1]

    def run(self):
        while True:
            for key, _ in self.selector.select(0.005):
                if key.fileobj is self.listener:
                    self.accept()
                elif isinstance(key.data, GroupClock):
                    key.data.answered()
                elif key.data in self.connections:
                    self.read(key.data)
            self.advance(now())

    def accept(self):
        connection = Connection(self.listener.accept()[0], self.identity)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self.connections.append(connection)
        self.selector.register(connection.socket, selectors.EVENT_READ, connection)
        if len(self.connections) > 16:
            self.close(next(c for c in self.connections if c is not self.control and c is not self.media))

    def close(self, connection):
        if connection not in self.connections:
            return
        self.connections.remove(connection)
        self.selector.unregister(connection.socket)
        connection.socket.close()
        if connection is self.media:
            self.media = None
        if connection is self.control:
            self.control = None
            if self.media:
                self.close(self.media)

    def read(self, connection):
        if connection is self.media and self.stream.held(self.playhead) > CAPACITY:
            return time.sleep(0.005)  # There is no room for more; the sender should know.
        try:
            before = len(connection.input)
            data = connection.receive()
            connection.received += len(connection.input) - before
            if connection.kind != "new":
                self.heard = now()
            for kind, payload in connection.messages():
                self.handle(connection, kind, payload)
                if connection not in self.connections:
                    return
            if not data:
                self.close(connection)
        except Broken as error:
            self.violated(connection, str(error))
        except OSError:
            self.close(connection)

    def violated(self, connection, how):
        if connection.kind == "new":
            connection.send(REFUSE, struct.pack(">BB", VIOLATION, 0) + text(how))
        elif connection is self.control:
            connection.send(GOODBYE, struct.pack(">BB", VIOLATION, 0) + text(how))
        self.close(connection)

    def handle(self, connection, kind, payload):
        if connection.kind == "new":
            if kind == HELLO:
                self.hello(connection, payload)
            elif kind == ATTACH:
                self.attach(connection, payload)
            elif kind != PROVE:  # Everybody may play here, proof or not.
                raise Broken("the first message is neither hello nor attach")
        elif connection is self.control:
            self.controlled(kind, payload)
        elif kind == FORMAT:
            form = Form(payload)
            self.stream.formats[form.id] = form
            self.recorder = self.recorder or Recorder(self.path, form.rate)
        elif kind == PACKET:
            self.stream.packet(payload)
        elif kind == ATTACH:
            raise Broken("a second attach")

    def hello(self, connection, payload):
        magic, version, flags, sender, session, clockID, port = unpack(">4sHH16sQQH", payload)
        check(magic == b"TUTI" and port > 0, "this is no hello")
        check(sender == connection.secure.peer, "a sender id that is not that of the key")
        name = payload[44 : 44 + unpack(">H", payload[42:])[0]].decode(errors="replace")
        if version < 2:
            connection.send(REFUSE, struct.pack(">BB", VERSION, 0) + text("2"))
            return self.close(connection)
        if self.control and self.sender[0] != sender and not flags & 1:
            connection.send(REFUSE, struct.pack(">BB", BUSY, 0) + text(self.sender[1]))
            return self.close(connection)
        if self.control and (self.clock.id != clockID or self.sender[0] != sender):
            self.control.send(GOODBYE, struct.pack(">BB", LENT if flags & 2 else REPLACED, 0) + text(name))
        if self.control:
            self.close(self.control)
        address = (connection.socket.getpeername()[0], port)
        if self.clock is None or self.clock.id != clockID:
            if self.clock:
                self.selector.unregister(self.clock.socket)
                self.clock.socket.close()
            self.stream, self.clock = Stream(), GroupClock(clockID, address)
            self.selector.register(self.clock.socket, selectors.EVENT_READ, self.clock)
        self.clock.address, self.sender, self.session = address, (sender, name), session
        self.clock.session, self.clock.key = session, connection.secure.clockKey
        connection.kind, connection.limit, self.control, self.heard = "control", 65_536, connection, now()
        room, held = self.room, b"\0\0"
        if self.stream.blocks:
            first = self.stream.blocks[0].first * self.stream.blocks[0].form.flicks
            held = struct.pack(">BIQqB", 1, self.stream.generation, self.stream.next, first, 0)
        head = struct.pack(">HH16sQqHBBq", 2, 0, self.id, CAPACITY, 600 * FLICKS, room.volume, room.isMuted, room.map, room.delay)
        connection.send(WELCOME, head + text(self.name) + text("receiver.py") + struct.pack(">HH", 1, 1) + held)
        self.status(now())

    def attach(self, connection, payload):
        magic, _, _, session = unpack(">4sHHQ", payload)
        if magic != b"TUTI" or not self.control or session != self.session:
            return self.close(connection)
        if connection.secure.peer != self.sender[0]:
            return self.close(connection)
        if self.media:
            self.close(self.media)
        connection.kind, connection.limit, self.media = "media", 528_384, connection
        self.stream.formats, self.stream.isAttached, self.limit = {}, False, 0
        self.credit(now())

    def controlled(self, kind, payload):
        if kind == ANCHOR:
            stream, rate, media, group = unpack(">IIqq", payload)
            check(rate in (0, 65_536) and 0 <= media <= 1 << 60 and abs(group) <= 1 << 60, "an anchor out of range")
            if stream == 0:
                self.stream.anchor(media, group, rate)
        elif kind == FLUSH:
            stream, generation, start, flags = unpack(">IIqB", payload)
            check(generation < 1 << 31 and 0 <= start <= 1 << 60, "a flush out of range")
            if stream != 0:
                return
            self.stream.cut(start, generation, bool(flags & 1))
            if generation == self.stream.generation:
                self.control.send(FLUSHED, struct.pack(">IIq", 0, generation, start))
            self.credit(now())
        elif kind == SETTINGS:
            self.room.set(*unpack(">HBBq", payload))
        elif kind == STREAM_VOLUME:
            stream, volume, flags = unpack(">IHB", payload)
            if stream == 0:
                self.stream.gain = gain(volume, flags)
        elif kind == GOODBYE:
            if unpack(">B", payload)[0] == FINISHED:
                self.stream, self.clock.id = Stream(), None
            self.close(self.control)
        elif kind == HELLO or kind in FROM_RECEIVERS:
            raise Broken("this message is not for a receiver")

    playhead = property(lambda self: self.recorder.playhead if self.recorder else 0)

    def advance(self, at):
        for connection in [c for c in self.connections if c.kind == "new" and at - c.since > SILENCE]:
            self.close(connection)
        if self.control and at - self.heard > SILENCE:
            self.control.send(GOODBYE, struct.pack(">BB", TIMEOUT, 0) + text(""))
            self.close(self.control)
        offset = self.clock.offset if self.clock and self.clock.isLocked else None
        if self.recorder:
            self.recorder.record(at, self.stream, offset, self.room)
        state = self.currentState(offset is not None)
        if state != self.state or self.statusDue <= at:
            self.state = state
            self.status(at)
        if self.media and self.creditDue <= at:
            self.credit(at)
        if self.control and self.clock.due <= at:
            self.clock.ask(at)  # Last, so that nothing delays the look at the answer.

    def currentState(self, isLocked):
        state = self.recorder.state if self.recorder else IDLE
        isHeld = bool(self.stream.blocks and self.stream.blocks[-1].end > self.playhead)
        if state == STARVED and self.stream.ended and not isHeld:
            return IDLE
        return (READY if isLocked else PRIMING) if state == IDLE and isHeld else state

    def status(self, at):
        self.statusDue = at + 1_000_000_000
        if self.control:
            flicks = self.recorder.flicks if self.recorder else 0
            numbers = (self.playhead * flicks, self.stream.bufferedUntil(self.playhead), self.stream.held(self.playhead))
            bound = (self.clock.high - self.clock.low) // 2 if self.clock.isLocked else 1 << 60
            head = struct.pack(">B3xiiIIIIqqQ", self.state, 0, 0, 0, 0, 0, self.stream.corrupt, *numbers)
            tail = struct.pack(">qqqqqqq", 0, 0, 0, 0, bound, self.clock.roundTrip, COMMIT_HORIZON)
            self.control.send(STATUS, head + tail + text(""))

    def credit(self, at):
        self.creditDue = at + 250_000_000
        if self.media and self.control:
            held, until = self.stream.held(self.playhead), self.stream.bufferedUntil(self.playhead)
            self.limit = max(self.limit, self.media.received + CAPACITY - held)
            self.control.send(CREDIT, struct.pack(">QqQ", self.limit, until, held))


def main():
    parser = argparse.ArgumentParser(description="Plays what a Tutti sender sends, into a WAV file.")
    parser.add_argument("file")
    parser.add_argument("--name", default="smallest")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # Some programs start others with it blocked.
    receiver = Receiver(options.file, options.name, options.port)
    print(f"listening: {options.name} on port {receiver.port}", flush=True)
    try:
        receiver.run()
    except KeyboardInterrupt:
        pass
    finally:
        if receiver.recorder:
            receiver.recorder.close()


if __name__ == "__main__":
    main()
