package import Changesets
package import ExtendedJSON
package import SyncModel

/// The partition that documents say themselves, by one of their properties: for writes that name no realm. Pure.
package enum PartitionOfWrites {
    /// Returns the realm that all of the writes belong to.
    ///
    /// - Parameters:
    ///   - key: the property that holds the partition value.
    ///   - writes: as a `write` message has them.
    /// - Throws: if a write has no document with the property, or two of them have different values there.
    package static func realm(
        of app: String, by key: ByteString, _ writes: BSONValue
    ) throws(MessageError) -> RealmName {
        var found: String?
        for (index, write) in (writes.array ?? []).enumerated() {
            let partition = try partition(of: write, by: key, at: index)
            guard found == nil || found == partition else {
                throw fail(
                    index,
                    "is of partition \(partition), those before it of \(found ?? ""): expected writes of one realm")
            }
            found = partition
        }
        guard let found else { throw fail("expected writes, whose \(key.string) says the partition") }
        return RealmName(app: app, partition: RealmName.partition(fromText: found))
    }

    private static func partition(
        of write: BSONValue, by key: ByteString, at index: Int
    ) throws(MessageError) -> String {
        guard let document = write.document?["document"]?.document else {
            throw fail(index, "has no document that says the partition: name the partition")
        }
        guard let value = document[key] else {
            throw fail(index, "has no \(key.string) in its document, which says the partition")
        }
        switch value {
        case .null, .string, .objectID, .uuid: return ExtendedJSONWriter.text(of: value, .canonical)
        default:
            // An integer of a partition has 64 bits, whatever the document has.
            guard let integer = value.integer else {
                throw fail(
                    index,
                    "has a \(value.typeName) in \(key.string): expected a string, integer, objectId, UUID or null")
            }
            return ExtendedJSONWriter.text(of: .int64(integer), .canonical)
        }
    }

    private static func fail(_ index: Int, _ reason: String) -> MessageError { fail("writes[\(index)] \(reason)") }

    private static func fail(_ reason: String) -> MessageError {
        MessageError(messageType: WriteMessage.type, reason: reason)
    }
}
