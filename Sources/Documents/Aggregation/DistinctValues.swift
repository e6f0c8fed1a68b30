package import Changesets
package import ExtendedJSON
package import RealmState

/// The values that a field has in some documents, of one realm or of several, each once: of an array those of its elements. Pure.
package struct DistinctValues {
    /// The property that the field is, or is within.
    package let property: ByteString
    private let field: DocumentPath
    private let path: PipelinePath
    private let maxBytes: Int
    private var found: [BSONValue: BSONValue] = [:]
    private var bytes = 0

    /// - Throws: `invalidWrite` or `limit`.
    package init(
        of field: ByteString, maxBytes: Int = 4 << 20, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        self.field = try DocumentPath(field, maxElements: limits.pathElements)
        property = self.field.first
        path = try PipelinePath(field, PipelineLimits())
        self.maxBytes = maxBytes
    }

    /// - Throws: `unknownField` or `wrongType` for a field that documents of a class cannot have.
    package func check(in table: TableSchema, schema: Schema) throws(DocumentError) {
        _ = try FilterPath(field, on: table, DocumentMapping(schema: schema))
    }

    /// - Throws: `limit`.
    package mutating func take(_ document: BSONDocument) throws(DocumentError) {
        for value in path.candidates(in: document) {
            if case .array = value { continue }
            let key = BSONOrder.key(value)
            guard found[key] == nil else { continue }
            found[key] = value
            bytes += 2 * value.weight
            guard bytes <= maxBytes else {
                throw DocumentError(.limit, "expected values of at most \(maxBytes >> 20) MiB")
            }
        }
    }

    /// The values in their order.
    package var values: [BSONValue] { found.values.sorted { BSONOrder.compare($0, $1) < 0 } }
}
