import Changesets
import SeededRandom
import SyncModel

@testable import Views

extension SeededGenerator {
    /// A number of any length.
    mutating func number() -> UInt64 { next() >> UInt64(below(64)) }

    mutating func text(upTo count: Int) -> String {
        String((0..<below(count + 1)).map { _ in Array("ab{\"é日\u{0}'")[below(8)] })
    }

    mutating func key() -> ObjectKey {
        switch below(6) {
        case 0: .null
        case 1: .int(Int64(bitPattern: below(2) == 0 ? number() : ~number()))
        case 2: .string(ByteString((0..<below(9)).map { _ in UInt8(below(256)) }))
        case 3: .globalKey(high: UInt64(below(1000)), low: number())
        case 4: .objectID(ObjectIDValue(high: next(), low: UInt32(truncatingIfNeeded: next())))
        default: .uuid(UUIDValue(high: next(), low: next()))
        }
    }

    mutating func compensation(_ version: ServerVersion, _ address: (inout SeededGenerator) -> ObjectAddress)
        -> CompensatingWrite
    {
        let refused = (0..<(below(2) * below(3))).map { _ in address(&self) }
        let objects = refused + (0..<below(4)).map { _ in address(&self) }
        return CompensatingWrite(
            version: version, clientVersion: ClientVersion(number() | 1), isTold: below(3) > 0,
            timestamp: SyncTimestamp(number()),
            refused: refused.map {
                RefusedWrite(className: $0.className, key: $0.key, reason: below(2) == 0 ? .view : .permission)
            },
            // No client has a copy of an object of an asymmetric class.
            objects: below(6) == 0 ? [] : objects)
    }

    mutating func clientViews() -> ClientViews {
        var segments: [ViewHistory<ViewDefinition>.Segment] = []
        var start: UInt64 = 0
        for _ in 0..<below(4) {
            start += number() >> 8
            segments.append(
                .init(
                    start: ServerVersion(start),
                    view: ViewDefinition(version: number(), queries: text(upTo: 20), roles: text(upTo: 20)),
                    since: below(2) == 0 ? ServerVersion(start - min(start, number())) : nil))
        }
        var views = ClientViews(
            views: ViewHistory(segments), roles: text(upTo: 20), schemaVersion: below(2) == 0 ? number() : nil)
        views.partition = below(2) == 0 ? text(upTo: 9) : nil
        views.begun =
            below(2) == 0
            ? BegunBootstrap(version: number(), gateway: text(upTo: 9), session: number()) : nil
        for _ in 0..<below(4) {
            start += number() >> 8
            views.add(compensation(ServerVersion(start)) { ObjectAddress(ByteString($0.text(upTo: 5)), $0.key()) })
        }
        return views
    }
}
