import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// What no stock peer sends: nothing of it may trap, hang or allocate, and each has its error.
@Suite struct HostileInputTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func code(_ text: String, mode: SyncMode = .partition) -> ErrorCode? {
        do {
            _ = try ClientMessageParser(mode: mode).parse(bytes(text))
            return nil
        } catch {
            return error.code
        }
    }

    /// Entries are client version, server version, timestamp, author (0 is the sender) and size.
    @Test func anUploadOfAnotherAuthorsChangesetIsRefused() {
        expectTrue(Self.code("upload 1 0 11 0 5 0 0\n5 0 1 0 1 xx") != .badOriginFileIdent)
        expectTrue(Self.code("upload 1 0 11 0 5 0 0\n5 0 1 0 1 x") == nil)
        expectEqual(Self.code("upload 1 0 11 0 5 0 0\n5 0 1 7 1 x"), .badOriginFileIdent)
    }

    @Test func anUploadCountsAsWhatItIsInflatedToIfItWillBe() {
        let parser = ClientMessageParser(mode: .partition, limits: .ofClients)
        func plain(_ text: String) -> Int? { parser.plainBytes(ofUpload: Self.bytes(text)) }
        expectEqual(plain("upload 1 1 5000 3 2 0 0\nxxx"), 5000)
        expectEqual(plain("upload 1 0 3 0 2 0 0\nxxx"), 24)
        expectTrue(plain("mark 1 1\n") == nil)
        // Nobody may make a gateway add up what it will never hold.
        expectEqual(plain("upload 1 1 9223372036854775807 3 2 0 0\nxxx"), 42)
        expectEqual(plain("upload 1 1 15728641 3 2 0 0\nxxx"), 31)
        expectEqual(plain("upload 1 1 15728640 3 2 0 0\nxxx"), 15_728_640)
    }

    @Test(arguments: Transcript.all)
    func everyTruncationOfARecordedMessageIsRefused(_ transcript: Transcript) {
        for message in transcript.messages where message.bytes.count < 600 {
            for count in 0..<message.bytes.count {
                let cut = Array(message.bytes.prefix(count))
                let mode = transcript.mode(of: message)
                if message.isFromClient {
                    #expect(throws: SyncProtocolError.self) { try ClientMessageParser(mode: mode).parse(cut) }
                } else {
                    #expect(throws: SyncProtocolError.self) { try ServerMessageParser(mode: mode).parse(cut) }
                }
            }
        }
    }

    @Test(arguments: Transcript.all)
    func everySingleByteAddedIsRefused(_ transcript: Transcript) {
        for message in transcript.messages {
            let mode = transcript.mode(of: message)
            if message.isFromClient {
                #expect(throws: SyncProtocolError.self) {
                    try ClientMessageParser(mode: mode).parse(message.bytes + [0x20])
                }
            } else {
                #expect(throws: SyncProtocolError.self) {
                    try ServerMessageParser(mode: mode).parse(message.bytes + [0x20])
                }
            }
        }
    }

    /// Nothing to expect but that it returns: flipped bytes may still make a message.
    @Test func noisyMessagesNeverTrap() {
        var random = SeededGenerator(seed: 0x51_1C_E0)
        let recorded = Transcript.all.flatMap { transcript in
            transcript.messages.filter { $0.bytes.count < 4000 }.map { (transcript.mode(of: $0), $0) }
        }
        var read = 0
        for _ in 0..<20_000 {
            guard let (mode, message) = recorded.randomElement(using: &random) else { break }
            var bytes = message.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] =
                    [UInt8.random(in: 0...255, using: &random), 0x20, 0x0A, 0x30, 0x39, 0x2D]
                    .randomElement(using: &random) ?? 0
            }
            if (try? ClientMessageParser(mode: mode).parse(bytes)) != nil { read += 1 }
            if (try? ServerMessageParser(mode: mode).parse(bytes)) != nil { read += 1 }
        }
        expectTrue(read > 0)
    }

    @Test func randomBytesAreRefused() {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(throws: SyncProtocolError.self) { try ClientMessageParser(mode: .partition).parse(bytes) }
            #expect(throws: SyncProtocolError.self) { try ServerMessageParser(mode: .flexible).parse(bytes) }
        }
    }

    @Test(arguments: [
        "", " ", "\n", "hello 1\n", "BIND 1\n", "mark", "mark\n", "query 1 1 2\n{}", "mark\t1 2\n", "transact 1\n",
    ])
    func unknownMessagesAre102(_ text: String) {
        expectEqual(Self.code(text), .unknownMessage)
    }

    @Test(arguments: [
        "mark 1\n", "mark  1 2\n", "mark 1  2\n", "mark 1 2", "mark 1 2 \n", "mark 1 2\n\n", "mark 1 2 3\n",
        "mark 1 2\r\n", "mark +1 2\n", "mark -1 2\n", "mark 0 2\n", "mark 1 0x2\n", "mark 1 \n",
        "mark 1 9223372036854775808\n", "mark 1 18446744073709551616\n",
        "mark 1 99999999999999999999999999999999999999\n", "mark 1 000000000000000000000000000000002\n",
        "bind 1 5 0 1 0\nabcd", "bind 1 -1 0 1 0\n", "bind 1 4 1 1 0\nabcd", "bind 1 4 0 1 0\nabcde",
        "bind 1 2 0 1 0\n\u{FFFD}", "ident 1 0 5 0 0 0 0\n", "ident 1 5 0 0 0 0 0\n", "ident 1 5 5 0 0 0\n",
        "ident 1 5 5 0 0 0 0 0 2\n{}", "upload 1 0 0 0 1 1\n", "upload 1 0 3 0 1 1 1\nab", "upload 1 0 0 1 1 1 1\n",
        "upload 1 0 9223372036854775807 0 1 1 1\n", "upload 1 1 5 9223372036854775807 1 1 1\n",
        "json_error 212 2 1\n{}", "json_error 212 3 1\nabc", "json_error 212 14 1\n{\"message\":12}",
        "json_error 99999999999 2 1\n{}", "ping 1\n", "ping 1 1 1\n", "test_command 1 1 3\n{}",
    ])
    func brokenSyntaxIs103(_ text: String) throws {
        let code = try #require(Self.code(text))
        // A size beyond the limits is refused as such, before the syntax behind it is looked at.
        expectTrue(code == .badSyntax || (text.contains("9223372036854775807 0") && code == .otherSessionError))
    }

    @Test func aNumberOf63BitsIsTheLargest() throws {
        let message = try ClientMessageParser(mode: .partition).parse(Self.bytes("mark 1 9223372036854775807\n"))
        expectEqual(message, .mark(session: 1, request: RequestIdent(UInt64(Int64.max))))
        let encoder = MessageEncoder(mode: .partition)
        let tooLarge = ClientMessage.mark(session: 1, request: RequestIdent(UInt64(Int64.max) + 1))
        #expect(throws: SyncProtocolError.self) { try encoder.encode(tooLarge) }
    }

    @Test func invalidUTF8InAPathIs103() {
        var bytes = Self.bytes("bind 1 2 0 1 0\n")
        bytes.append(contentsOf: [0xC0, 0x80])
        #expect { try ClientMessageParser(mode: .partition).parse(bytes) } throws: {
            ($0 as? SyncProtocolError)?.code == .badSyntax
        }
    }

    @Test(arguments: [
        ("x 1 1 0 2 ab", ErrorCode.badChangesetHeaderSyntax), ("1 1 1 0 2", .badChangesetHeaderSyntax),
        ("1 1 1 0 -2 ab", .badChangesetHeaderSyntax), ("1  1 1 0 2 ab", .badChangesetHeaderSyntax),
        ("1 1 1 0 2 ab1", .badChangesetHeaderSyntax), ("1 1 1 0 3 ab", .badChangesetSize),
        ("1 1 1 0 9223372036854775807 ab", .badChangesetSize),
        ("9223372036854775808 1 1 0 1 a", .badChangesetHeaderSyntax),
    ])
    func brokenEntriesAre111Or112(_ entries: String, _ expected: ErrorCode) {
        expectEqual(Self.code("upload 1 0 \(entries.utf8.count) 0 1 1 1\n\(entries)"), expected)
    }

    @Test func anEmptyChangesetIsAnEntry() throws {
        let message = try ClientMessageParser(mode: .partition).parse(Self.bytes("upload 1 0 10 0 1 0 0\n1 0 5 0 0 "))
        guard case .upload(let upload) = message else {
            Issue.record("no UPLOAD")
            return
        }
        expectEqual(upload.entries.map(\.changeset), [[]])
    }

    @Test func tooManyEntriesResetTheSession() throws {
        var limits = ProtocolLimits()
        limits.maxEntries = 2
        let body = "1 0 5 0 0 2 0 5 0 0 3 0 5 0 0 "
        let bytes = Self.bytes("upload 7 0 \(body.utf8.count) 0 3 0 0\n\(body)")
        #expect { try ClientMessageParser(mode: .partition, limits: limits).parse(bytes) } throws: {
            Self.resetsSession7($0)
        }
    }

    @Test func tooLargeUploadsResetTheSessionInsteadOfTheConnection() {
        var limits = ProtocolLimits()
        limits.maxMessageBytes = 100
        limits.maxPlainBodyBytes = 60
        limits.maxChangesetBytes = 20
        let parser = ClientMessageParser(mode: .partition, limits: limits)
        let messages = [
            "upload 7 0 200 0 3 0 0\n" + String(repeating: "x", count: 200),
            "upload 7 0 61 0 3 0 0\n" + String(repeating: "x", count: 61),
            "upload 7 0 32 0 3 0 0\n1 0 5 0 21 " + String(repeating: "x", count: 21),
        ]
        for message in messages {
            #expect { try parser.parse(Self.bytes(message)) } throws: { Self.resetsSession7($0) }
        }
    }

    private static func resetsSession7(_ error: any Error) -> Bool {
        guard let error = error as? SyncProtocolError,
            case .jsonError(let session, let code, let body) = error.answer
        else { return false }
        return session == 7 && code.scope == .session && body.action == .clientReset && !body.tryAgain
            && error.closeReason == error.message
    }

    @Test func otherOversizeMessagesCloseTheConnectionWithACodeThatMayBeSent() throws {
        var limits = ProtocolLimits()
        limits.maxMessageBytes = 100
        limits.maxJSONBytes = 50
        limits.maxPathBytes = 50
        limits.maxTokenBytes = 3
        let parser = ClientMessageParser(mode: .flexible, limits: limits)
        let long = String(repeating: "x", count: 200)
        for message in [
            "bind 1 200 0 1 0\n\(long)", "bind 1 60 0 1 0\n\(long.prefix(60))", "bind 1 0 4 1 0\nabcd",
            "query 1 1 101\n\(long.prefix(101))", "json_error 201 51 1\n\(long.prefix(51))",
        ] {
            #expect { try parser.parse(Self.bytes(message)) } throws: { error in
                guard let error = error as? SyncProtocolError, let answer = error.answer else { return false }
                return error.scope == .connection
                    && (try? MessageEncoder(mode: .flexible).encode(answer)) != nil
            }
        }
    }

    @Test func theSessionOfACutUploadIsKnown() {
        expectEqual(ClientMessageParser.uploadSession(inPrefix: Self.bytes("upload 12 1 99")), 12)
        expectTrue(ClientMessageParser.uploadSession(inPrefix: Self.bytes("upload 12")) == nil)
        expectTrue(ClientMessageParser.uploadSession(inPrefix: Self.bytes("query 12 1 99")) == nil)
    }
}
