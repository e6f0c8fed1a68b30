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
        for table in local.schema.tables where table.kind != .embedded {
            for (key, _) in local.objects(of: table.name) where !fresh.contains(ObjectAddress(table.name, key)) {
                local.replace(ObjectAddress(table.name, key), with: nil)
                statistics.deleted += 1
            }
        }
        for table in local.schema.tables where table.kind != .embedded {
            for (key, object) in fresh.objects(of: table.name) {
                let address = ObjectAddress(table.name, key)
                let wanted = translation.object(object, of: table.name)
                guard let present = local.object(address) else {
                    local.replace(address, with: wanted)
                    statistics.inserted += 1
                    continue
                }
                // Seen through the same glass: a stored default and a missing value are the same.
                let normalized = ValueTranslation(source: local.schema, target: local.schema)
                    .object(present, of: table.name)
                guard normalized != wanted else { continue }
                local.replace(address, with: wanted)
                statistics.updated += 1
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
