package import Changesets

extension StoredObject {
    /// The values of the object that do not fit into a realm: the outermost of it, not what is inside of that.
    package func misfits(_ address: ObjectAddress, in schema: Schema) -> [Misfit] {
        guard let table = schema.table(address.className) else { return [] }
        var search = MisfitSearch(schema: schema, address: address)
        if case .string(let key) = address.key, let fault = key.textFault {
            search.found.append(
                Misfit(address: address, field: table.key?.name ?? "", path: [], reason: "primary key: \(fault)"))
        }
        for (column, value) in table.values(of: self) {
            search.field = column.name
            search.visit(value, column.element, path: [])
        }
        return search.found
    }
}

private struct MisfitSearch {
    let schema: Schema
    let address: ObjectAddress
    var field: ByteString = ""
    var found: [Misfit] = []

    mutating func visit(_ value: Value, _ element: ElementType, path: [PathStep]) {
        switch value {
        case .string(let text): add(text.textFault, path)
        case .list(let items):
            for (index, item) in items.enumerated() where item.mayMisfit {
                visit(item, element, path: path + [.index(index)])
            }
        case .set(let members):
            // Members of a set have no paths.
            for member in members where member.mayMisfit { visit(member, element, path: path) }
        case .dictionary(let entries):
            let faults = entries.keys.sorted().compactMap(\.dictionaryKeyFault)
            for fault in faults { add(fault, path) }
            // The whole dictionary is at fault then.
            guard faults.isEmpty else { return }
            for (key, item) in entries.sorted(by: { $0.key < $1.key }) where item.mayMisfit {
                visit(item, element, path: path + [.key(key)])
            }
        case .embedded(let object):
            guard let table = schema.embeddedTarget(of: element) else { return }
            for (column, value) in table.values(of: object) where value.mayMisfit {
                visit(value, column.element, path: path + [.key(column.name)])
            }
        default: break
        }
    }

    private mutating func add(_ fault: String?, _ path: [PathStep]) {
        if let fault { found.append(Misfit(address: address, field: field, path: path, reason: fault)) }
    }
}

extension Value {
    /// Whether the value is one of those that may hold a misfit.
    fileprivate var mayMisfit: Bool {
        if case .string = self { true } else { !isPlain }
    }
}
