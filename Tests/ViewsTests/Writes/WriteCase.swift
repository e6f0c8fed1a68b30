import RealmState
import SeededRandom
import SyncModel

@testable import Views

/// A client's write to one object, with the object's state at every version that the client had not seen.
struct WriteCase: CustomStringConvertible {
    /// The owners whose objects a view has, and which properties it shows of them.
    struct OwnerView: Hashable, Sendable {
        var owners: Set<Int64>
        var shown: Int
    }

    var segments: [ViewHistory<OwnerView>.Segment] = []
    var base: UInt64
    /// The owner of the object at the base and at every version since; nil where there is no object.
    var owners: [Int64?]
    /// The versions that touch the object, each with whether the client has written it.
    var touches: [UInt64: Bool] = [:]
    var write: ObjectWrite

    var latest: UInt64 { base + UInt64(owners.count - 1) }

    func owner(at version: UInt64) -> Int64? { owners[Int(version - base)] }

    var judge: WriteJudge<OwnerView> {
        WriteJudge(
            views: ViewHistory(segments),
            isIn: { object, view in
                guard case .int(let owner) = object[ColumnID(rawValue: 0)] else { return false }
                return view.owners.contains(owner)
            }, isShownAlike: { $0.shown == $1.shown })
    }

    static func object(_ owner: Int64?) -> StoredObject? {
        owner.map { StoredObject([ColumnID(rawValue: 0): .int($0)]) }
    }

    /// The same write, based on a later version.
    func since(_ version: UInt64) -> WriteCase {
        var test = self
        test.base = version
        test.owners = Array(owners.dropFirst(Int(version - base)))
        test.touches = touches.filter { $0.key > version }
        return test
    }

    /// The same before anything happened after a version.
    func through(_ version: UInt64) -> WriteCase {
        var test = self
        test.owners = Array(owners.prefix(Int(version - base) + 1))
        test.touches = touches.filter { $0.key <= version }
        return test
    }

    var timeline: ObjectTimeline {
        let touches = touches.sorted { $0.key < $1.key }.map { version, isOwn in
            ObjectTimeline.Touch(
                version: ServerVersion(version), isOwn: isOwn, before: Self.object(owner(at: version - 1)))
        }
        return ObjectTimeline(
            base: ServerVersion(base), latest: ServerVersion(latest), touches: touches,
            now: Self.object(owner(at: latest)))
    }

    init(random: inout SeededGenerator) {
        base = UInt64(5 + random.below(5))
        owners = [random.below(3) == 0 ? nil : Int64(1 + random.below(3))]
        write = ObjectWrite(creates: random.below(2) == 0, erases: random.below(3) == 0)
        write.beginsWithErasure = write.erases && random.below(2) == 0
        for _ in 0..<random.below(7) {
            let version = latest + 1
            var owner = owner(at: latest)
            if random.below(5) < 3 {
                touches[version] = random.below(3) == 0
                owner = random.below(3) == 0 ? nil : Int64(1 + random.below(3))
            }
            owners.append(owner)
        }
        var start: UInt64 = random.below(10) == 0 ? base + 1 : UInt64(random.below(Int(base)))
        for index in 0...random.below(4) {
            let view = OwnerView(
                owners: Set((1...3).filter { _ in random.below(5) < 3 }), shown: random.below(4) == 0 ? 1 : 0)
            let old = start
            if index > 0 { start += UInt64(random.below(Int(latest + 1 - min(start, latest)))) }
            // The view's pages may have begun before.
            let since = index > 0 && random.below(2) == 0 ? old + UInt64(random.below(Int(start - old) + 1)) : nil
            segments.append(
                .init(
                    start: ServerVersion(start), view: view, since: since.map { ServerVersion($0) },
                    isRenewal: index > 0 && random.below(4) == 0))
        }
    }

    var description: String {
        let views = segments.map { segment in
            "at \(segment.start) since \(segment.since.map { "\($0)" } ?? "then")\(segment.isRenewal ? " renewed" : "")"
                + " \(segment.view.owners.sorted()) shown \(segment.view.shown)"
        }
        let states = owners.enumerated().map { index, owner in
            let touch = touches[base + UInt64(index)].map { $0 ? " own" : " others'" } ?? ""
            return "\(base + UInt64(index))\(touch) \(owner.map { "\($0)" } ?? "none")"
        }
        return "views \(views), object \(states), \(write)"
    }
}
