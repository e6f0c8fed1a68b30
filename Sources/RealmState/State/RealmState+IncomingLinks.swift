package import Changesets
import HashTreeCollections

extension RealmState {
    /// Every link to an object from the objects that are loaded or in the base, unresolved ones included.
    ///
    /// With the index this looks at the objects that ever linked there, without it at all of them. A state on a base has an index, of what has
    /// changed since.
    package mutating func incomingLinks(to target: ObjectAddress) -> [IncomingLink] {
        rebuildIncomingIndexIfBloated()
        guard let index = incoming else {
            var result: [IncomingLink] = []
            for table in schema.tables where mayLink(from: table, to: target.className) {
                for (key, row) in objects.held(of: table.id) {
                    guard let object = row.object else { continue }
                    result += links(from: ObjectAddress(table.name, key), object, table, to: target)
                }
            }
            return result
        }
        var result: [IncomingLink] = []
        let candidates = index.candidates(for: target)
        for source in base?.sources(linkingTo: target) ?? [] {
            guard let table = schema.table(source.table) else { continue }
            let address = ObjectAddress(table.name, source.key)
            guard !candidates.contains(address), let object = object(address) else { continue }
            result += links(from: address, object, table, to: target)
        }
        for source in candidates {
            guard let table = schema.table(source.className), let object = object(source) else {
                forget(source, target)
                continue
            }
            let found = links(from: source, object, table, to: target)
            if found.isEmpty { forget(source, target) }
            result += found
        }
        return result
    }

    /// Stale entries can be forgotten only when no rollback can bring their links back.
    private mutating func forget(_ source: ObjectAddress, _ target: ObjectAddress) {
        if !hasSavepoint { incoming?.remove(source, from: target) }
    }

    private mutating func rebuildIncomingIndexIfBloated() {
        guard let index = incoming, index.count > index.countToRebuild, !hasSavepoint else { return }
        var fresh = IncomingLinkIndex()
        for table in schema.tables {
            for (key, row) in objects.held(of: table.id) {
                if let object = row.object { fresh.add(linksOf: object, from: ObjectAddress(table.name, key)) }
            }
        }
        fresh.finishRebuild()
        incoming = fresh
    }

    private func mayLink(from table: TableSchema, to className: ByteString) -> Bool {
        guard table.kind != .embedded else { return false }
        return table.columns.contains { column in
            guard column.element.type == .link else { return column.element.isMixed }
            guard let target = column.element.target, !target.isEmpty else { return true }
            return target == className || schema.isEmbedded(target)
        }
    }

    private func links(
        from source: ObjectAddress, _ object: StoredObject, _ table: TableSchema, to target: ObjectAddress
    ) -> [IncomingLink] {
        var search = LinkSearch(schema: schema, source: source, target: target)
        for (column, value) in table.values(of: object) {
            search.field = column.name
            search.visit(value, element: column.element, path: [], holder: .property)
        }
        return search.found
    }
}

/// Walks one object's values in search of links to one target.
private struct LinkSearch {
    let schema: Schema
    let source: ObjectAddress
    let target: ObjectAddress
    var field: ByteString = ""
    var found: [IncomingLink] = []

    mutating func visit(_ value: Value, element: ElementType, path: [PathStep], holder: IncomingLink.Holder) {
        switch value {
        case .link(let address):
            guard address == target else { return }
            let link = IncomingLink(source: source, field: field, path: path, holder: holder, isMixed: element.isMixed)
            found.append(link)
        case .list(let items):
            for (index, item) in items.enumerated() where item.mayHoldLinks {
                visit(item, element: element, path: path + [.index(index)], holder: .listSlot)
            }
        case .dictionary(let entries):
            for (key, item) in entries where item.mayHoldLinks {
                visit(item, element: element, path: path + [.key(key)], holder: .dictionaryEntry)
            }
        case .set(let items):
            for item in items where item.mayHoldLinks {
                visit(item, element: element, path: path, holder: .setMember)
            }
        case .embedded(let object):
            guard let table = schema.embeddedTarget(of: element) else { return }
            for (column, value) in table.values(of: object) where value.mayHoldLinks {
                visit(value, element: column.element, path: path + [.key(column.name)], holder: .property)
            }
        default: break
        }
    }
}

extension Value {
    fileprivate var mayHoldLinks: Bool {
        if case .link = self { true } else { !isPlain }
    }
}
