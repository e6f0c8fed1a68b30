import Changesets
import Documents
import ExtendedJSON
import RealmState
import Views

/// What a changeset that was applied leaves to the realm's history, and to those who follow the app.
struct AppliedChangeset {
    /// The objects as they were, in a flexible realm.
    var images: BeforeImages?
    /// What the changeset did to each document; empty where nobody follows the app.
    var changes: [EncodedChange] = []
}

/// A change as it is published, but for its place, which it gets with its version.
struct EncodedChange {
    /// What one change may take. A larger one goes without what it says of the document: brokers refuse what is beyond their own bound.
    static let maxBytes = 8 << 20

    var className: ByteString
    var operation: DocumentChange.Operation
    var body: [UInt8]

    /// - Parameter room: what it may take; a larger one says by `omitted` that the document has to be read.
    init(_ change: DocumentChange, room: Int) {
        className = change.className
        operation = change.operation
        var document = change.body
        body = ExtendedJSONWriter.bytes(of: .document(document))
        guard body.count > min(room, Self.maxBytes) else { return }
        for key in ["set", "removed", "document"] as [ByteString] { document[key] = nil }
        document["omitted"] = true
        body = ExtendedJSONWriter.bytes(of: .document(document))
    }
}

/// Objects as they were before a changeset was applied.
struct ObjectsBefore: DocumentObjects {
    let schema: Schema
    private let objects: [ObjectAddress: StoredObject]

    init(schema: Schema, _ objects: [(ObjectAddress, StoredObject?)]) {
        self.schema = schema
        self.objects = Dictionary(
            objects.lazy.compactMap { address, object in object.map { (address, $0) } }, uniquingKeysWith: { $1 })
    }

    func object(_ address: ObjectAddress) -> StoredObject? { objects[address] }
}
