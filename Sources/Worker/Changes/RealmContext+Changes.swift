import Changesets
import Documents
import ExtendedJSON
import Messages
import RealmState
import Storage
import SyncModel

// What a realm's versions do to documents, for those who follow the app.
extension RealmContext {
    /// What the changes of one message may take; what it does beyond that is told by key alone. An owner holds them until they have arrived.
    static let maxChangeBytes = 32 << 20

    /// What a changeset has done.
    ///
    /// - Parameter room: what the changes may take.
    func changes(of changeset: Changeset, since before: ObjectsBefore, room: Int) -> [EncodedChange] {
        var room = room
        return DocumentChanges.of(
            changeset, before: before, after: state, withDocuments: feed == .documents && room > 0
        ).map {
            let change = EncodedChange($0, room: room)
            room -= change.body.count
            return change
        }
    }

    /// Gives changes the place of the version that was just appended.
    func place(_ changes: [EncodedChange], writtenAt timestamp: SyncTimestamp) -> [PlacedChange] {
        // Most versions do the same to several documents of a class.
        var last: (change: EncodedChange, key: String)?
        return changes.enumerated().map { index, change in
            let place = ChangePlace(generation: record.generation, version: record.latest.version, index: index)
            if last?.change.className != change.className || last?.change.operation != change.operation {
                let key = Topology.changeKey(
                    app: name.app, class: change.className, operation: change.operation.rawValue)
                last = (change, key)
            }
            return PlacedChange(
                routingKey: last?.key ?? "",
                place: FeedPlace(place, of: history),
                element: FeedChange.element(
                    at: place, follows: tell(place, of: change.className),
                    writtenAt: UInt64(clamping: timestamp.unixMilliseconds), change: change.body))
        }
    }

    /// The change that says that the realm is gone. Nothing that came before is of interest any more, so it follows nothing.
    ///
    /// - Parameter history: the app's.
    func erasureChange(of history: String, at now: UInt64) -> PlacedChange {
        let place = ChangePlace(erasureAfter: record.latest.version, generation: record.generation)
        return PlacedChange(
            routingKey: Topology.changeKey(app: name.app, class: nil, operation: FeedChange.erase),
            place: FeedPlace(place, of: history),
            element: FeedChange.element(
                at: place, follows: ChangePredecessors(), writtenAt: now,
                change: ExtendedJSONWriter.bytes(of: ["operation": .string(ByteString(FeedChange.erase))])))
    }
}
