package import Changesets

extension Changeset {
    /// The values that a changeset would bring into a realm and that do not fit there. Instructions that cannot be applied at all are passed over.
    ///
    /// - Parameter schemas: in which its classes and fields are looked for, the first one that has them counts: the schema that the changeset
    ///   leaves, and the one that it found if it takes anything away.
    package func misfits(in schemas: Schema...) -> [Misfit] {
        var found: [Misfit] = []
        let hasBadText = strings.strings.contains { $0.textFault != nil }
        for instruction in instructions {
            let target = instruction.target
            var faults: [(path: [PathStep], reason: String)] = []
            if hasBadText, case .string(let key) = target.object, let fault = strings[key]?.textFault {
                faults.append(([], "primary key: \(fault)"))
            }
            if let field = instruction.fieldPath, !field.path.isEmpty, let fault = keyFault(in: field, schemas) {
                faults.append(fault)
            }
            switch instruction.addedPayload {
            case .string(let text):
                if let fault = text.textFault { faults.append((steps(of: instruction.fieldPath), fault)) }
            case .link(_, .string(let key)):
                if hasBadText, let fault = strings[key]?.textFault {
                    faults.append((steps(of: instruction.fieldPath), "primary key of a link: \(fault)"))
                }
            default: break
            }
            guard !faults.isEmpty else { continue }
            let key = target.object.flatMap { strings.resolve($0) }
            let address = strings[target.table].flatMap { name in key.map { ObjectAddress(name, $0) } }
            let name = target.field.flatMap { strings[$0] } ?? ""
            found += faults.map { Misfit(address: address, field: name, path: $0.path, reason: $0.reason) }
        }
        return found
    }

    /// The first key of a dictionary on the way of a path that no dictionary may have.
    private func keyFault(in field: FieldPath, _ schemas: [Schema]) -> (path: [PathStep], reason: String)? {
        for schema in schemas {
            guard let name = strings[field.table], let column = strings[field.field],
                var walk = schema.table(name)?.column(column).map({ PathWalk($0) })
            else { continue }
            var steps: [PathStep] = []
            for element in field.path {
                guard let step = step(element) else { return nil }
                steps.append(step)
                guard case .key(let key) = step else {
                    walk.enterElement()
                    continue
                }
                if walk.isInEmbedded(schema) {
                    guard walk.enter(key, schema) else { return nil }
                    continue
                }
                if let fault = key.dictionaryKeyFault { return (steps, fault) }
                walk.enterElement()
            }
            return nil
        }
        return nil
    }

    private func step(_ element: PathElement) -> PathStep? {
        switch element {
        case .index(let index): .index(Int(index))
        case .key(let key): strings[key].map(PathStep.key)
        }
    }

    private func steps(of field: FieldPath?) -> [PathStep] { field?.path.compactMap(step) ?? [] }
}

/// Where a path has come, as far as the schema tells: whether the next string is a dictionary's key or a field of an embedded object.
private struct PathWalk {
    private var element: ElementType
    /// The path stands at a whole collection, and has not gone into it.
    private var isCollection: Bool

    init(_ column: ColumnSchema) {
        element = column.element
        isCollection = column.collection != .single
    }

    func isInEmbedded(_ schema: Schema) -> Bool { !isCollection && schema.embeddedTarget(of: element) != nil }

    /// Goes into an element of a collection; the elements of one in a mixed value are mixed.
    mutating func enterElement() { isCollection = false }

    /// Goes into a field of an embedded object.
    ///
    /// - Returns: false if it has no such field.
    mutating func enter(_ field: ByteString, _ schema: Schema) -> Bool {
        guard let column = schema.embeddedTarget(of: element)?.column(field) else { return false }
        self = PathWalk(column)
        return true
    }
}

extension Instruction {
    /// The value that is in the realm once the instruction is applied.
    fileprivate var addedPayload: Payload? {
        if case .setErase = self { nil } else { payload }
    }
}
