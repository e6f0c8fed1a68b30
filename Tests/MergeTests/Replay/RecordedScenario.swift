import Changesets
import Foundation
import Merge
import TestSupport

/// A recorded star of one server and several clients, replayed event by event.
struct RecordedScenario {
    struct Event: Decodable {
        var event: String
        var peer: UInt64?
        var from: UInt64?
        var version: UInt64?
        var timestamp: UInt64?
        var changeset: HexBytes?
        var changesets: [RecordedChangeset]?
        var result: HexBytes?
    }

    struct Outcome: Equatable {
        var events = 0
        var changed = 0
        var differences: [String] = []
    }

    private struct Entry {
        var version: UInt64
        var timestamp: UInt64
        var origin: UInt64
        /// The peer that it was received from; nil if made here.
        var from: UInt64?
        var changeset: Changeset
    }

    private struct Link: Hashable {
        var peer: UInt64
        var remote: UInt64
    }

    private let engine: MergeEngine
    private var histories: [UInt64: [Entry]] = [:]
    private var reciprocals: [Link: [UInt64: Changeset]] = [:]
    private(set) var outcome = Outcome()

    init(_ engine: MergeEngine) { self.engine = engine }

    static func replay(_ file: URL, _ engine: MergeEngine) throws -> Outcome {
        var scenario = RecordedScenario(engine)
        for event in try RecordedVectors.lines(of: file, as: Event.self) { try scenario.replay(event) }
        return scenario.outcome
    }

    private mutating func replay(_ event: Event) throws {
        switch event.event {
        case "local":
            guard let peer = event.peer, let version = event.version, let timestamp = event.timestamp,
                let changeset = event.changeset
            else { throw MissingField() }
            histories[peer, default: []].append(
                Entry(
                    version: version, timestamp: timestamp, origin: peer,
                    changeset: try Changeset(parsing: changeset.bytes)))
        case "integrate": try integrate(event)
        default: break
        }
    }

    private mutating func integrate(_ event: Event) throws {
        guard let peer = event.peer, let from = event.from, let version = event.version,
            let recorded = event.changesets, let expected = event.result
        else { throw MissingField() }
        let link = Link(peer: peer, remote: from)
        let history = histories[peer, default: []]
        let local = history.filter { $0.from != from && !$0.changeset.isEmpty }.map { entry in
            LocalChangeset(
                version: entry.version, originTimestamp: entry.timestamp, originFileIdent: entry.origin,
                changeset: reciprocals[link]?[entry.version] ?? entry.changeset)
        }
        let incoming = try recorded.map(IncomingChangeset.init)
        let result = try engine.transform(
            incoming: incoming, over: local, currentLocalVersion: history.last?.version ?? 1)

        outcome.events += 1
        if result.incoming != incoming.map(\.changeset) { outcome.changed += 1 }
        let bytes = result.incoming.flatMap { $0.encoded() }
        if bytes != expected.bytes {
            outcome.differences.append("peer \(peer), version \(version)")
        }
        for reciprocal in result.modifiedLocal {
            reciprocals[link, default: [:]][reciprocal.version] = reciprocal.changeset
        }
        guard let last = incoming.last else { return }
        histories[peer, default: []].append(
            Entry(
                version: version, timestamp: last.originTimestamp, origin: last.originFileIdent, from: from,
                changeset: result.incoming.count == 1 ? result.incoming[0] : Changeset()))
    }

    struct MissingField: Error {}
}

extension IncomingChangeset {
    init(_ recorded: RecordedChangeset) throws {
        self.init(
            version: recorded.version, lastIntegratedLocalVersion: recorded.lastIntegratedLocalVersion,
            originTimestamp: recorded.timestamp, originFileIdent: recorded.originFileIdent,
            changeset: try Changeset(parsing: recorded.changeset.bytes))
    }
}
