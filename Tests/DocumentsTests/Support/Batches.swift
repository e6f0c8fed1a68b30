import Changesets
import Documents
import ExtendedJSON
import RealmState
import TestSupport

extension WriteOptions {
    /// Primary keys that are always the same.
    static let test = WriteOptions(
        newObjectID: { ObjectIDValue(high: 1, low: 2) }, newUUID: { UUIDValue(high: 1, low: 2) })
}

extension RealmState {
    /// Applies a batch as text, `[...]` being its writes.
    @discardableResult
    mutating func write(_ writes: String, _ options: WriteOptions = .test) throws -> RecordedWrites {
        let batch = try WriteBatch(parsing: Array("{\"writes\":\(writes)}".utf8))
        return try batch.record(on: &self, options)
    }

    /// The error of a batch.
    func refusal(_ writes: String, _ options: WriteOptions = .test) -> DocumentError? {
        do throws(DocumentError) {
            let batch = try WriteBatch(parsing: Array("{\"writes\":\(writes)}".utf8))
            _ = try batch.recorded(on: self, options)
            return nil
        } catch {
            return error
        }
    }

    /// A document as text; nil if there is none.
    func json(_ className: ByteString, _ key: ObjectKey, only fields: ByteString...) throws -> String? {
        let mapping = DocumentMapping(schema: schema)
        let address = ObjectAddress(className, key)
        guard let object = object(address) else { return nil }
        let document = mapping.document(of: object, key: key, try mapping.table(className))
        let shown =
            fields.isEmpty ? document : BSONDocument(fields.compactMap { name in document[name].map { (name, $0) } })
        return ExtendedJSONWriter.text(of: .document(shown))
    }
}
