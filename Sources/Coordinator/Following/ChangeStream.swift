import AMQP
import Changesets
import ExtendedJSON
import Hummingbird
import Inspection
import Logging
import Messages
import NIOCore
import Storage
import SyncModel

/// Writes what a follower wants to be told: documents as they are, then what is done to them, without a gap and without an overlap.
struct ChangeStream: Sendable {
    let context: CoordinatorContext
    let wanted: WantedChanges
    /// Nil where no state is told.
    let stores: SliceStores?
    let tap: ChangeTap

    private static let keepAlive = Duration.seconds(10)
    /// What is put together before it is written.
    private static let writeBytes = 256 << 10

    func write(to writer: inout any ResponseBodyWriter) async throws {
        let watch = ChangeWatch(tap, context, app: wanted.app.id)
        let watching = Task { await watch.run() }
        defer { watching.cancel() }
        // A snapshot of a store is held while documents are told.
        var patient: any ResponseBodyWriter = PatientWriter(writer, patience: context.configuration.stalledReader)
        do {
            var places = FollowedPlaces(isOfOneClass: wanted.className != nil)
            if let stores { try await tellState(from: stores, watch, &places, to: &patient) }
            try await writer.write(ServerSentEvent("ready", data: Array("{}".utf8)).buffer)
            try await tellChanges(watch, &places, to: &writer)
        } catch let stalled as StalledReader {
            CoordinatorMetrics.readerStalled(.changes)
            try await patient.write(ServerSentEvent(stalled).buffer)
        } catch let failure as FollowedRealm.Failure {
            try await writer.write(ServerSentEvent(failure).buffer)
        } catch let end as StreamEnd {
            try await writer.write(ServerSentEvent(error: end.end.rawValue, end.end.message).buffer)
        } catch let error as AMQPError {
            context.logger.debug("a follower's queue was lost", metadata: ["error": "\(error)"])
            let end = watch.end ?? .interrupted
            try await writer.write(ServerSentEvent(error: end.rawValue, end.message).buffer)
        }
    }

    // MARK: The state

    private func tellState(
        from stores: SliceStores, _ watch: ChangeWatch, _ places: inout FollowedPlaces,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        if let name = wanted.realm {
            guard let reader = try await stores.reader(of: name, in: context.slices) else { return }
            // A realm that is not there has yet to come into being.
            _ = try await tellState(of: name, in: reader, watch, &places, to: &writer)
            return
        }
        try await stores.forEachRealm(of: wanted.app.id) { record, reader in
            // Something may be left of an app that has moved from the other mode.
            guard !record.name.isFlexible else { return }
            let isThere = try await tellState(of: record.name, in: reader, watch, &places, to: &writer)
            if !isThere { places.isGone(record.name.topicKey) }
            guard !places.isFull else {
                throw FollowedRealm.Failure.placeGone(
                    "the app has more than \(FollowedPlaces.most) realms: follow partitions")
            }
        }
    }

    /// - Returns: whether there is such a realm.
    private func tellState(
        of name: RealmName, in reader: any SliceReader, _ watch: ChangeWatch, _ places: inout FollowedPlaces,
        to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        var since: FeedPlace?
        if case .place(let place) = wanted.beginning { since = place }
        let place = try await FollowedRealm.read(name, of: wanted.className, since: since, in: reader, app: wanted.app)
        {
            documents, place in
            if let end = watch.end { throw StreamEnd(end) }
            var buffer = ByteBuffer()
            for document in documents {
                buffer.writeImmutableBuffer(ServerSentEvent(document, of: name, at: place).buffer)
            }
            if buffer.readableBytes > 0 { try await writer.write(buffer) }
        }
        guard let place else { return false }
        places.told(name.topicKey, at: place)
        try await writer.write(ServerSentEvent(stateOf: name, at: place, hasID: wanted.realm != nil).buffer)
        return true
    }

    // MARK: Changes

    private func tellChanges(
        _ watch: ChangeWatch, _ places: inout FollowedPlaces, to writer: inout any ResponseBodyWriter
    ) async throws {
        let only = wanted.realm?.topicKey
        let consumer = try await tap.consume()
        while true {
            if consumer.bufferedCount == 0 { await consumer.waitForDelivery(upTo: Self.keepAlive) }
            if let end = watch.end { throw StreamEnd(end) }
            guard consumer.bufferedCount > 0 else {
                // Also finds out that the client has left.
                try await writer.write(ByteBuffer(string: ": \n\n"))
                continue
            }
            guard let batch = try await consumer.nextBatch(max: 64, maxBytes: Self.writeBytes) else {
                throw StreamEnd(watch.end ?? .interrupted)
            }
            // Nothing is told behind what is missing: whoever goes on from the last place gets it.
            if try await tap.hasLost() { throw StreamEnd(.tooSlow) }
            var buffer = ByteBuffer()
            for delivery in batch {
                guard tap.holds(delivery) else { throw StreamEnd(.interrupted) }
                guard let changes = try? PassingChange.all(in: delivery) else {
                    if buffer.readableBytes > 0 { try await writer.write(buffer) }
                    throw StreamEnd(.interrupted)
                }
                for change in changes where only == nil || change.realm == only {
                    switch places.take(change) {
                    case .dropped: continue
                    case .missed:
                        CoordinatorMetrics.changeMissed()
                        if buffer.readableBytes > 0 { try await writer.write(buffer) }
                        throw StreamEnd(.interrupted)
                    case .told:
                        let id = only == nil ? nil : change.place.description
                        buffer.writeImmutableBuffer(ServerSentEvent("change", id: id, data: change.body).buffer)
                    }
                }
            }
            if let last = batch.last { try await consumer.ack(upTo: last) }
            if buffer.readableBytes > 0 { try await writer.write(buffer) }
        }
    }
}

/// A follower is told no more.
struct StreamEnd: Error {
    var end: ChangeWatch.End

    init(_ end: ChangeWatch.End) { self.end = end }
}

/// One server-sent event with JSON in one line.
struct ServerSentEvent {
    private(set) var buffer = ByteBuffer()

    /// - Parameter id: what a client sends as Last-Event-ID when it comes again.
    init(_ name: String, id: String? = nil, data: [UInt8]) {
        buffer.writeString("event: \(name)\n")
        if let id { buffer.writeString("id: \(id)\n") }
        buffer.writeString("data: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
    }

    /// A document as it is, or that it is gone.
    init(_ document: FollowedRealm.Document, of realm: RealmName, at place: FeedPlace) {
        var data = Self.place(realm, place)
        data["class"] = .string(document.className)
        data["key"] = document.key
        data["document"] = document.content.map { .document($0) } ?? .null
        self.init("document", data: ExtendedJSONWriter.bytes(of: .document(data)))
    }

    /// All documents of a realm were told.
    init(stateOf realm: RealmName, at place: FeedPlace, hasID: Bool) {
        self.init(
            "state", id: hasID ? place.description : nil,
            data: ExtendedJSONWriter.bytes(of: .document(Self.place(realm, place))))
    }

    init(error: String, _ message: String) {
        self.init(
            "error",
            data: ExtendedJSONWriter.bytes(
                of: ["error": .string(ByteString(error)), "message": .string(ByteString(message))]))
    }

    init(_ failure: FollowedRealm.Failure) {
        switch failure {
        case .placeGone(let reason): self.init(error: "place_gone", "\(reason): start anew, from=start")
        case .tooSlow: self.init(error: "too_slow", "a realm's documents were not read in time: read faster")
        }
    }

    private static func place(_ realm: RealmName, _ place: FeedPlace) -> BSONDocument {
        var document: BSONDocument = ["realm": .document(realm.document)]
        document["history"] = place.history.map { BSONValue($0) }
        document["generation"] = BSONValue(Int64(clamping: place.place.generation))
        document["version"] = BSONValue(Int64(clamping: place.place.version.rawValue))
        return document
    }
}
