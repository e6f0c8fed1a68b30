import Changesets
import ExtendedJSON
import RealmState

/// Reads instructions from documents.
struct InstructionReader {
    private(set) var strings = InternTable()

    mutating func instruction(_ document: BSONDocument) throws(DocumentError) -> Instruction {
        var members = InstructionMembers(document)
        let op = try members.text("op")
        let table = strings.intern(try members.text("class"))
        let instruction: Instruction
        switch op {
        case "AddTable": instruction = .addTable(.init(table: table, kind: try kind(&members)))
        case "EraseTable": instruction = .eraseTable(table: table)
        case "CreateObject": instruction = .createObject(table: table, object: try key(&members))
        case "EraseObject": instruction = .eraseObject(table: table, object: try key(&members))
        case "AddColumn": instruction = .addColumn(try column(of: table, &members))
        case "EraseColumn":
            instruction = .eraseColumn(table: table, field: strings.intern(try members.text("field")))
        case "Update":
            let target = try path(in: table, &members)
            let value = try value(&members)
            // The last element says which of the two there is.
            let qualifier: Instruction.Update.Qualifier =
                if case .index? = target.path.last {
                    .priorSize(try members.requiredNumber("priorSize"))
                } else {
                    .isDefault(try members.flag("default"))
                }
            instruction = .update(.init(target: target, value: value, qualifier: qualifier))
        case "AddInteger":
            let target = try path(in: table, &members)
            guard let delta = try members.required("delta").integer else {
                throw DocumentError(.wrongType, "expected an integer", at: .root.key("delta"))
            }
            instruction = .addInteger(target, delta: delta)
        case "ArrayInsert":
            instruction = .arrayInsert(
                try path(in: table, &members), value: try value(&members),
                priorSize: try members.requiredNumber("priorSize"))
        case "ArrayMove":
            instruction = .arrayMove(
                try path(in: table, &members), to: try members.requiredNumber("to"),
                priorSize: try members.requiredNumber("priorSize"))
        case "ArrayErase":
            instruction = .arrayErase(
                try path(in: table, &members), priorSize: try members.requiredNumber("priorSize"))
        case "Clear":
            let target = try path(in: table, &members)
            let word = try members.text("collection")
            guard let collection = InstructionWord.collections[word] else {
                throw Self.unknown(word, InstructionWord.collections.keys, "collection")
            }
            instruction = .clear(target, collection: collection)
        case "SetInsert": instruction = .setInsert(try path(in: table, &members), value: try value(&members))
        case "SetErase": instruction = .setErase(try path(in: table, &members), value: try value(&members))
        default:
            throw DocumentError(
                .unsupportedOperator,
                "there is no instruction \"\(op.string.shortened)\" (docs/changesets.md)", at: .root.key("op"))
        }
        try members.requireNothingElse()
        return instruction
    }

    private static func unknown(
        _ word: ByteString, _ known: some Sequence<ByteString>, _ place: ByteString
    ) -> DocumentError {
        let names = known.map(\.string).sorted().joined(separator: ", ")
        return DocumentError(
            .invalidWrite, "expected one of \(names), came \"\(word.string.shortened)\"", at: .root.key(place))
    }

    private func type(_ word: ByteString, at place: ByteString) throws(DocumentError) -> PayloadType {
        guard let type = InstructionWord.types[word] else {
            throw Self.unknown(word, InstructionWord.types.keys, place)
        }
        return type
    }

    private mutating func kind(
        _ members: inout InstructionMembers
    ) throws(DocumentError) -> Instruction.AddTable.Kind {
        guard !(try members.flag("embedded")) else { return .embedded }
        let asymmetric = try members.flag("asymmetric")
        guard let key = try members.required("key").document else {
            throw DocumentError(
                .wrongType, "expected the primary key as an object with name and type", at: .root.key("key"))
        }
        do throws(DocumentError) {
            var parts = InstructionMembers(key)
            let field = strings.intern(try parts.text("name"))
            let type = try type(parts.text("type"), at: "type")
            let nullable = try parts.flag("nullable")
            try parts.requireNothingElse()
            return .topLevel(keyField: field, keyType: type, keyNullable: nullable, asymmetric: asymmetric)
        } catch {
            throw error.within(.key("key"))
        }
    }

    private mutating func column(
        of table: InternedString, _ members: inout InstructionMembers
    ) throws(DocumentError) -> Instruction.AddColumn {
        let field = strings.intern(try members.text("field"))
        let type = try type(members.text("type"), at: "type")
        var collection = CollectionType.single
        if let word = try members.optionalText("collection") {
            guard let known = InstructionWord.collections[word] else {
                throw Self.unknown(word, InstructionWord.collections.keys, "collection")
            }
            collection = known
        }
        let standard = type == .null || type == .link && (collection == .single || collection == .dictionary)
        let nullable = try members.optionalFlag("nullable") ?? standard
        var target: InternedString?
        if type == .link { target = strings.intern(try members.text("target")) }
        var keyType: PayloadType?
        if collection == .dictionary {
            keyType = try self.type(try members.optionalText("keyType") ?? "string", at: "keyType")
        }
        return Instruction.AddColumn(
            table: table, field: field, type: type, nullable: nullable, collection: collection, linkTarget: target,
            keyType: keyType)
    }

    private mutating func key(_ members: inout InstructionMembers) throws(DocumentError) -> PrimaryKey {
        let value = try members.required("key")
        do throws(DocumentError) { return try key(value) } catch { throw error.within(.key("key")) }
    }

    private mutating func key(_ value: BSONValue) throws(DocumentError) -> PrimaryKey {
        switch value {
        case .null: return .null
        case .int32(let number): return .int(Int64(number))
        case .int64(let number): return .int(number)
        case .string(let text): return .string(strings.intern(text))
        case .objectID(let id): return .objectID(id)
        case .uuid(let id): return .uuid(id)
        case .document(let document):
            if document.count == 1, let (high, low) = Self.bits(document["$globalKey"]) {
                return .globalKey(high: high, low: low)
            }
        default: break
        }
        throw DocumentError(
            .wrongType, "expected a primary key: an integer, a string, $oid, $uuid, null or $globalKey")
    }

    private mutating func path(
        in table: InternedString, _ members: inout InstructionMembers
    ) throws(DocumentError) -> FieldPath {
        let object = try key(&members)
        guard let elements = try members.required("path").array, let field = elements.first?.string else {
            throw DocumentError(
                .wrongType, "expected an array that begins with a field's name", at: .root.key("path"))
        }
        var result = FieldPath(table: table, object: object, field: strings.intern(field))
        for (index, element) in elements.enumerated().dropFirst() {
            switch element {
            case .string(let name): result.path.append(.key(strings.intern(name)))
            default:
                guard let number = element.integer.flatMap({ UInt32(exactly: $0) }) else {
                    throw DocumentError(
                        .wrongType, "expected a name or an index, came \(element.typeName)",
                        at: .root.key("path").index(index))
                }
                result.path.append(.index(number))
            }
        }
        return result
    }

    private mutating func value(_ members: inout InstructionMembers) throws(DocumentError) -> Payload {
        let value = try members.required("value")
        do throws(DocumentError) { return try payload(value) } catch { throw error.within(.key("value")) }
    }

    private mutating func payload(_ value: BSONValue) throws(DocumentError) -> Payload {
        if let scalar = Value(scalar: value) { return Payload(unlinked: scalar) }
        if case .document(let document) = value, let payload = try special(document) { return payload }
        throw DocumentError(
            .wrongType,
            "expected one value, which is no array and no object, or $ref, $make, $erased, $time, $floatBits; came \(value.typeName)"
        )
    }

    /// Nil for a document that stands for no value.
    private mutating func special(_ document: BSONDocument) throws(DocumentError) -> Payload? {
        if document.count == 2, let table = document["$ref"]?.string, let id = document["$id"] {
            let target = strings.intern(table)
            return .link(table: target, key: try key(id))
        }
        guard document.count == 1, let only = document.members.first else { return nil }
        switch only.key {
        case "$make": return only.value.string.flatMap { InstructionWord.made[$0] }
        case "$erased": return only.value.bool == true ? .erased : nil
        case "$floatBits":
            return Self.number(only.value, digits: 8).flatMap { UInt32(exactly: $0) }.map { .float(bits: $0) }
        case "$float":
            return only.value.number.flatMap { number in
                switch number {
                case .int(let value): Float(exactly: value).map { .float(bits: $0.bitPattern) }
                case .double(let bits): .float(bits: Float(Double(bitPattern: bits)).bitPattern)
                default: nil
                }
            }
        case "$doubleBits": return Self.number(only.value, digits: 16).map { .double(bits: $0) }
        case "$decimalBits":
            return Self.bits(only.value).map { .decimal(Decimal128Value(high: $0.high, low: $0.low)) }
        case "$time":
            guard let parts = only.value.array, parts.count == 2, let seconds = parts[0].integer,
                let nanoseconds = parts[1].integer.flatMap({ Int32(exactly: $0) }),
                case let time = TimestampValue(seconds: seconds, nanoseconds: nanoseconds), time.isValid
            else { return nil }
            return .timestamp(time)
        default: return nil
        }
    }

    private static func number(_ value: BSONValue, digits: Int) -> UInt64? {
        guard let text = value.string?.string, text.utf8.count == digits else { return nil }
        return UInt64(text, radix: 16)
    }

    private static func bits(_ value: BSONValue?) -> (high: UInt64, low: UInt64)? {
        guard let text = value?.string?.string, text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        return (high, low)
    }
}

/// The members of an instruction, of which each is to be read once.
struct InstructionMembers {
    private var left: BSONDocument

    init(_ document: BSONDocument) { left = document }

    private mutating func take(_ key: ByteString) -> BSONValue? {
        defer { left[key] = nil }
        return left[key]
    }

    mutating func required(_ key: ByteString) throws(DocumentError) -> BSONValue {
        guard let value = take(key) else { throw DocumentError(.missingField, "expected \(key)") }
        return value
    }

    mutating func text(_ key: ByteString) throws(DocumentError) -> ByteString {
        guard let text = try required(key).string else {
            throw DocumentError(.wrongType, "expected a string", at: .root.key(key))
        }
        return text
    }

    mutating func optionalText(_ key: ByteString) throws(DocumentError) -> ByteString? {
        left[key] == nil ? nil : try text(key)
    }

    mutating func optionalFlag(_ key: ByteString) throws(DocumentError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard let flag = value.bool else {
            throw DocumentError(.wrongType, "expected true or false, came \(value.typeName)", at: .root.key(key))
        }
        return flag
    }

    mutating func flag(_ key: ByteString) throws(DocumentError) -> Bool { try optionalFlag(key) ?? false }

    mutating func number(_ key: ByteString) throws(DocumentError) -> UInt32? {
        guard let value = take(key) else { return nil }
        guard let number = value.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw DocumentError(.wrongType, "expected a number of 32 bits, 0 or more", at: .root.key(key))
        }
        return number
    }

    mutating func requiredNumber(_ key: ByteString) throws(DocumentError) -> UInt32 {
        guard let number = try number(key) else { throw DocumentError(.missingField, "expected \(key)") }
        return number
    }

    func requireNothingElse() throws(DocumentError) {
        guard let stranger = left.members.first else { return }
        throw DocumentError(.invalidWrite, "the key \"\(stranger.key.string.shortened)\" means nothing here")
    }
}
