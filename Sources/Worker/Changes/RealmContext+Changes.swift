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
        changes.enumerated().map { index, change in
            let place = ChangePlace(generation: record.generation, version: record.latest.version, index: index)
            return PlacedChange(
                routingKey: Topology.changeKey(
                    app: name.app, class: change.className, operation: change.operation.rawValue),
                id: ChangeMessage.id(realm: name, at: FeedPlace(place, of: history)),
                body: ChangeMessage.body(
                    realm: name, history: history, place: place,
                    writtenAt: UInt64(clamping: timestamp.unixMilliseconds),
                    change: change.body))
        }
    }

    /// What says that the realm is gone, with a place behind all of its versions and before those of a realm of its name to come.
    ///
    /// - Parameter history: the app's.
    func erasureChange(of history: String, at now: UInt64) -> PlacedChange {
        let place = ChangePlace(generation: record.generation, version: record.latest.version + 1, index: 0)
        let message = ChangeMessage(
            realm: name, history: history, place: place, writtenAt: now,
            change: ["operation": .string(ByteString(ChangeMessage.erase))])
        return PlacedChange(
            routingKey: Topology.changeKey(app: name.app, class: nil, operation: ChangeMessage.erase),
            id: ChangeMessage.id(realm: name, at: FeedPlace(place, of: history)), body: message.jsonBody())
    }
}
