import Changesets

/// Why a reset cannot take over the fresh copy's schema.
package struct TransferFailure: Error, Sendable, CustomStringConvertible {
    package var description: String
}

/// Makes a local state hold what the fresh copy holds, changing only what differs (docs/resets.md, "State transfer").
package enum StateTransfer {
    package struct Statistics: Equatable, Sendable {
        package var inserted = 0
        package var updated = 0
        package var deleted = 0

        package init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0) {
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }
    }

    /// - Throws: `TransferFailure` for a breaking difference of the schemas; the local state is as before then.
    package static func transfer(from fresh: RealmState, to local: inout RealmState) throws -> Statistics {
        try checkSchema(local: local.schema, fresh: fresh.schema)
        try addSchema(of: fresh.schema, to: &local)
        let translation = ValueTranslation(source: fresh.schema, target: local.schema)
        var statistics = Statistics()
        // Seen through the same glass: a stored default and a missing value are the same.
        let normalization = ValueTranslation(source: local.schema, target: local.schema)
        for table in local.schema.tables where table.kind != .embedded {
            // Side by side, so that nothing is held but what differs.
            var (mine, theirs) = (local.cursor(of: table.name), fresh.cursor(of: table.name))
            var (present, wanted) = (mine.next(), theirs.next())
            while let key = [present?.key, wanted?.key].compactMap({ $0 }).min() {
                let old = present?.key == key ? present?.object : nil
                let new = wanted?.key == key ? wanted?.object : nil
                if old != nil { present = mine.next() }
                if new != nil { wanted = theirs.next() }
                let address = ObjectAddress(table.name, key)
                guard let new = new.map({ translation.object($0, of: table.name) }) else {
                    local.replace(address, with: nil)
                    statistics.deleted += 1
                    continue
                }
                if let old, normalization.object(old, of: table.name) == new { continue }
                local.replace(address, with: new)
                if old == nil { statistics.inserted += 1 } else { statistics.updated += 1 }
            }
        }
        return statistics
    }

    // MARK: Schema

    private static func checkSchema(local: Schema, fresh: Schema) throws {
        for table in local.tables {
            guard let other = fresh.table(table.name) else {
                throw failure("class '\(table.name)' has been removed by the server, or exists only locally")
            }
            guard table.kind == other.kind else { throw failure("class '\(table.name)' is of another kind") }
            guard table.key == other.key else {
                throw failure("the primary key of class '\(table.name)' has another name, type or nullability")
            }
            for column in table.columns {
                guard let twin = other.column(column.name) else {
                    throw failure(
                        "property '\(table.name).\(column.name)' has been removed by the server, or exists only locally"
                    )
                }
                guard twin.element == column.element, twin.collection == column.collection else {
                    throw failure("property '\(table.name).\(column.name)' has another type on the server")
                }
            }
        }
    }

    private static func addSchema(of fresh: Schema, to local: inout RealmState) throws {
        let all = StateChangesets(schema: fresh).schemaChangeset()
        let missing = all.instructions.filter { instruction in
            switch instruction {
            case .addTable(let addTable):
                return all.strings[addTable.table].map { local.schema.table($0) == nil } ?? false
            case .addColumn(let addColumn):
                guard let table = all.strings[addColumn.table], let field = all.strings[addColumn.field] else {
                    return false
                }
                return local.schema.table(table)?.column(field) == nil
            default: return false
            }
        }
        guard !missing.isEmpty else { return }
        try local.apply(Changeset(strings: all.strings, instructions: missing))
    }

    private static func failure(_ message: String) -> TransferFailure {
        TransferFailure(description: "the schemas cannot be reconciled: \(message)")
    }
}
