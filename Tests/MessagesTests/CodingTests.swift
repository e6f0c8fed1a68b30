import AMQP
import Messages
import SyncModel
import TestSupport
import Testing

@Suite struct CodingTests {
    static let realm = RealmName(app: "tasks", partition: "\"store-nw\"")
    static let changeset = ChangesetMessage(
        realm: realm,
        upload: .init(
            session: SessionReference(gateway: "g1", number: 7), clientFile: 3, generation: 2, follows: 11,
            progress: UploadCursor(clientVersion: 14, serverVersion: 9), lockedServerVersion: 8,
            rights: SessionRights(.readWrite, rulesVersion: 300)),
        entries: [
            .init(clientVersion: 12, serverVersion: 9, timestamp: 364_953_000_000, changeset: [1, 2, 3]),
            .init(clientVersion: 14, serverVersion: 9, timestamp: 364_953_000_001, changeset: []),
        ])
    static let entries = [
        HistoryEntry(serverVersion: 5, clientVersion: 12, originFile: 3, timestamp: 1, changeset: [9, 8]),
        HistoryEntry(serverVersion: 6, clientVersion: 0, originFile: 1, timestamp: SyncTimestamp(.max), changeset: []),
    ]
    static let page = PageAnswer(
        generation: 2, after: DownloadCursor(serverVersion: 4, clientVersion: 1), entries: entries,
        download: DownloadCursor(serverVersion: 6, clientVersion: 12),
        latest: SaltedServerVersion(version: 6, salt: VersionSalt(.max)),
        upload: UploadCursor(clientVersion: 14, serverVersion: 4), downloadableBytes: 0)
    static let integrated = IntegratedNotice(
        realm: realm, generation: 2, follows: 4, latest: SaltedServerVersion(version: 6, salt: 77), entries: entries,
        acknowledgements: [.init(clientFile: 3, upload: UploadCursor(clientVersion: 14, serverVersion: 4))])

    private func roundTrip<M: Message & Equatable>(_ message: M) throws {
        let amqp = try AMQPMessage(message)
        expectEqual(amqp.properties.contentType, ContentType.binary)
        expectEqual(amqp.properties.type, M.type)
        try expectEqual(amqp.decode(M.self), message)
        let json = AMQPMessage(
            body: Array(try jsonBody(message)), properties: AMQPProperties(contentType: ContentType.json))
        try expectEqual(json.decode(M.self), message)
    }

    private func jsonBody(_ message: some Message) throws -> [UInt8] { try message.jsonBody() }

    @Test func bulkMessagesAreTheSameInBothForms() throws {
        try roundTrip(Self.changeset)
        try roundTrip(Self.page)
        try roundTrip(Self.integrated)
    }

    /// Versions that do not know of it read the body, and find nothing that they do not know.
    @Test func theVersionOfTheUsersIsAHeader() throws {
        var message = Self.changeset
        message.upload?.rights?.usersVersion = 41
        try roundTrip(message)
        let amqp = try AMQPMessage(message)
        expectEqual(amqp.properties.headers[ChangesetMessage.usersHeader], .int(41))
        expectEqual(amqp.body, (try AMQPMessage(Self.changeset)).body)
        for value in [AMQPValue.int(-1), .string("41")] {
            var forged = amqp
            forged.properties.headers[ChangesetMessage.usersHeader] = value
            try expectTrue(forged.decode(ChangesetMessage.self).upload?.rights?.usersVersion == nil)
        }
    }

    @Test func otherMessagesTravelAsJSON() throws {
        let message = try AMQPMessage(TerminationMessage(app: "tasks", campaign: "c1", generation: 3, reason: nil))
        expectEqual(message.properties.contentType, ContentType.json)
        try expectEqual(
            message.decode(TerminationMessage.self),
            TerminationMessage(app: "tasks", campaign: "c1", generation: 3, reason: nil))
    }

    @Test func everyTruncationOfABinaryBodyIsRefused() throws {
        let body = try #require(Self.changeset.binaryBody())
        for length in 0..<body.count {
            #expect(throws: MessageError.self) { try ChangesetMessage(binaryBody: Array(body.prefix(length))) }
        }
        #expect(throws: MessageError.self) { try ChangesetMessage(binaryBody: body + [0]) }
        let notice = try #require(Self.integrated.binaryBody())
        for length in 0..<notice.count {
            #expect(throws: MessageError.self) { try IntegratedNotice(binaryBody: Array(notice.prefix(length))) }
        }
    }

    /// An upload may have waited in a queue since before there were rules.
    @Test func anUploadOfTheFirstFormatHasNoRights() throws {
        var expected = Self.changeset
        expected.upload?.rights = nil
        // The flag that says that there are none is the last byte before the entries.
        let body = try #require(expected.binaryBody())
        var entries = WireWriter()
        entries.number(UInt64(expected.entries.count))
        for entry in expected.entries {
            entries.number(entry.clientVersion)
            entries.number(entry.serverVersion)
            entries.number(entry.timestamp)
            entries.blob(entry.changeset)
        }
        let head = body.dropLast(entries.bytes.count)
        expectEqual(head.last, 0)
        try expectEqual(ChangesetMessage(binaryBody: [1] + head.dropFirst().dropLast() + entries.bytes), expected)
        let json = try JSON.encode(expected)
        try expectEqual(AMQPMessage(body: Array(json)).decode(ChangesetMessage.self), expected)
        expectTrue(!String(decoding: json, as: UTF8.self).contains("rights"))
    }

    @Test func rightsThatAreNoneOfThreeAreRefused() throws {
        var body = try #require(Self.changeset.binaryBody())
        let index = try #require(body.firstIndex(of: 0xac))
        // 300 in two bytes comes after the rights.
        expectTrue(body[index - 1] == 2 && body[index + 1] == 2)
        body[index - 1] = 3
        #expect(throws: MessageError.self) { try ChangesetMessage(binaryBody: body) }
        body[index - 2] = 2
        #expect(throws: MessageError.self) { try ChangesetMessage(binaryBody: body) }
    }

    @Test func aCountThatLiesReservesNothing() {
        var writer = WireWriter()
        writer.byte(1)
        writer.text("tasks")
        writer.text("null")
        writer.byte(0)
        writer.number(.max)
        #expect(throws: MessageError.self) { try ChangesetMessage(binaryBody: writer.bytes) }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...64, using: &generator)).map { _ in UInt8.random(in: 0...255) }
            _ = try? ChangesetMessage(binaryBody: [1] + bytes)
            _ = try? ChangesetMessage(binaryBody: [2] + bytes)
            _ = try? PageAnswer(binaryBody: [1] + bytes)
            _ = try? IntegratedNotice(binaryBody: [1] + bytes)
        }
    }

    @Test func theShortFormOfAShellEventIsUnderstood() throws {
        let body = #"{"realm": {"app": "tasks", "partition": "store-nw"}, "changesets": ["0a0B", ""], "timestamp": 5}"#
        let message = try AMQPMessage(body: body).decode(ChangesetMessage.self)
        expectTrue(message.upload == nil)
        expectEqual(message.realm, Self.realm)
        expectEqual(message.entries.map(\.changeset), [[10, 11], []])
        expectEqual(message.entries.map(\.timestamp), [5, 5])
    }

    @Test(arguments: [
        (#"{"realm": {"app": "tasks"}, "changesets": []}"#, "partition"),
        (#"{"realm": {"app": "tasks", "partition": "a"}, "changesets": ["0"]}"#, "hexadecimal"),
        (#"{"realm": {"app": "tasks", "partition": "a"}, "changesets": [7]}"#, "changesets"), ("", "not"),
        ("[", "not"),
    ])
    func badJSONIsRefusedByName(body: String, word: String) {
        let error = #expect(throws: MessageError.self) { try AMQPMessage(body: body).decode(ChangesetMessage.self) }
        expectEqual(error?.reason.contains(word), true, "\(error?.reason ?? "no error")")
    }

    @Test func anUnknownContentTypeIsRefused() {
        let message = AMQPMessage(body: "x", properties: AMQPProperties(contentType: "text/plain"))
        let error = #expect(throws: MessageError.self) { try message.decode(TickMessage.self) }
        expectEqual(error?.reason.contains("text/plain"), true)
    }

    @Test func anEnvelopeIsFoundInPropertiesOrInTheBody() throws {
        var message = AMQPMessage(body: #"{"type": "reset", "id": "r-1"}"#)
        try expectEqual(Envelope(of: message), Envelope(of: message))
        try expectEqual(Envelope(of: message).type, "reset")
        try expectEqual(Envelope(of: message).id, "r-1")
        message.properties.type = "termination"
        message.properties.messageID = "m-1"
        try expectEqual(Envelope(of: message).type, "termination")
        try expectEqual(Envelope(of: message).id, "m-1")
        #expect(throws: MessageError.self) { try Envelope(of: AMQPMessage(body: "{}")) }
    }

    @Test func anEmptyIDIsNone() throws {
        try expectTrue(Envelope(of: AMQPMessage(body: #"{"type": "reset", "id": ""}"#)).id == nil)
        let properties = AMQPProperties(type: "reset", messageID: "")
        try expectEqual(Envelope(of: AMQPMessage(body: #"{"id": "r-1"}"#, properties: properties)).id, "r-1")
        try expectTrue(Envelope(of: AMQPMessage(body: "{}", properties: properties)).id == nil)
    }

    /// What says that an event came before has to be kept as it is, and to fit into the property when the event is published again.
    @Test(arguments: [String(repeating: "x", count: 256), "a\\u0000b"])
    func anIDThatCannotBeKeptIsRefused(id: String) throws {
        let error = #expect(throws: MessageError.self) {
            try Envelope(of: AMQPMessage(body: #"{"type": "reset", "id": "\#(id)"}"#))
        }
        expectEqual(error?.reason.contains("expected at most 255, none of them U+0000"), true)
    }
}
