package import Changesets
package import ExtendedJSON

/// Writes that become one version of one realm, all or none.
///
/// As JSON an object `{"writes": [...], "onlyIf": {"version": N}}`. With `onlyIf` the realm has to be at that version, else the answer is
/// `conflict`.
package struct WriteBatch: Hashable, Sendable {
    package var writes: [DocumentWrite]
    /// The version at which the realm has to be.
    package var onlyIfVersion: UInt64?

    package init(_ writes: [DocumentWrite], onlyIfVersion: UInt64? = nil) {
        self.writes = writes
        self.onlyIfVersion = onlyIfVersion
    }

    /// Reads the members of a batch, which may stand beside others in a message.
    ///
    /// - Throws: an error whose place begins with `writes` or `onlyIf`.
    package init(
        writes: BSONValue, onlyIf: BSONValue? = nil, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) {
        self.init(
            try at(.key("writes")) { () throws(DocumentError) in try Self.writes(writes, limits) },
            onlyIfVersion: try at(.key("onlyIf")) { () throws(DocumentError) in try Self.version(onlyIf) })
    }

    /// Reads a batch.
    ///
    /// - Throws: also `syntax`.
    package init(
        parsing bytes: [UInt8], limits: DocumentLimits = DocumentLimits(),
        textLimits: ExtendedJSONLimits = ExtendedJSONLimits()
    ) throws(DocumentError) {
        let json: BSONValue
        do throws(ExtendedJSONError) {
            json = try ExtendedJSONParser.parse(bytes, limits: textLimits)
        } catch {
            throw DocumentError(error)
        }
        var members = try Members(json, "a batch as an object")
        let writes = try members.value("writes")
        let onlyIf = members.has("onlyIf") ? try members.value("onlyIf") : nil
        try members.finish("a batch")
        try self.init(writes: writes, onlyIf: onlyIf, limits: limits)
    }

    /// Leaves a property out of the documents of some classes.
    package mutating func leaveOut(_ property: ByteString, ofClasses isMeant: (ByteString) -> Bool) {
        for index in writes.indices where isMeant(writes[index].className) {
            switch writes[index].operation {
            case .insert(var document):
                document[property] = nil
                writes[index].operation = .insert(document)
            case .upsert(var document):
                document[property] = nil
                writes[index].operation = .upsert(document)
            case .replace(let id, var document):
                document[property] = nil
                writes[index].operation = .replace(id: id, document)
            case .update, .delete: break
            }
        }
    }

    private static func writes(_ json: BSONValue, _ limits: DocumentLimits) throws(DocumentError) -> [DocumentWrite] {
        guard case .array(let items) = json else {
            throw DocumentError(.invalidWrite, "expected an array of writes, came \(json.typeName)")
        }
        guard items.count <= limits.writes else {
            throw DocumentError(.limit, "expected at most \(limits.writes) writes, came \(items.count)")
        }
        var writes: [DocumentWrite] = []
        writes.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            writes.append(
                try at(.index(index)) { () throws(DocumentError) in try DocumentWrite(item, limits: limits) })
        }
        return writes
    }

    private static func version(_ json: BSONValue?) throws(DocumentError) -> UInt64? {
        guard let json else { return nil }
        var members = try Members(json, "an object with version")
        let version = try members.value("version")
        try members.finish("onlyIf")
        guard let number = version.integer, let number = UInt64(exactly: number) else {
            throw DocumentError(
                .invalidWrite, "expected the number of a version, came \(version.typeName)", at: .root.key("version"))
        }
        return number
    }
}
