package import Changesets
package import ExtendedJSON

/// A changeset as an array of instructions in Extended JSON, and back: `{"op": "CreateObject", "class": "Dog", "key": 7}`. Pure.
///
/// Nothing of what the instructions say is lost: what Extended JSON has no word for has one of its own (docs/changesets.md, "As JSON").
package enum ChangesetDocument {
    /// - Throws: `invalidValue` for a name or a string that is no UTF-8, or a number without a string in the changeset's table.
    package static func instructions(of changeset: Changeset) throws(DocumentError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        let writer = InstructionWriter(strings: changeset.strings)
        for (index, instruction) in changeset.instructions.enumerated() {
            documents.append(
                try at(.index(index)) { () throws(DocumentError) in try writer.document(of: instruction) })
        }
        return documents
    }

    /// - Throws: `DocumentError`, whose place begins with the instruction's number.
    package static func changeset(_ instructions: [BSONValue]) throws(DocumentError) -> Changeset {
        var reader = InstructionReader()
        var read: [Instruction] = []
        for (index, value) in instructions.enumerated() {
            do throws(DocumentError) {
                guard let document = value.document else {
                    throw DocumentError(.invalidWrite, "expected an instruction, came \(value.typeName)")
                }
                read.append(try reader.instruction(document))
            } catch {
                throw error.within(.index(index))
            }
        }
        return Changeset(strings: reader.strings, instructions: read)
    }
}

/// The words of instructions' members.
enum InstructionWord {
    /// The types of values, by their names in documents; `globalKey` is of primary keys alone.
    static let types: [ByteString: PayloadType] = Dictionary(
        uniqueKeysWithValues: PayloadType.named.map { (ByteString($0), $1) } + [("globalKey", .globalKey)])
    static let collections: [ByteString: CollectionType] = [
        "single": .single, "list": .list, "set": .set, "dictionary": .dictionary,
    ]
    /// The values that are made where they stand.
    static let made: [ByteString: Payload] = [
        "list": .list, "set": .set, "dictionary": .dictionary, "object": .objectValue,
    ]

    static func name(of type: PayloadType) -> ByteString? { types.first { $0.value == type }?.key }
    static func name(of collection: CollectionType) -> ByteString? { collections.first { $0.value == collection }?.key }
    static func name(of payload: Payload) -> ByteString? { made.first { $0.value == payload }?.key }
}
