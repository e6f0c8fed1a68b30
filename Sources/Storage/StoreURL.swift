/// Where a cluster's data is kept: the setting `store.url`, taken apart.
package enum StoreURL: Sendable, Equatable {
    /// `sqlite:<folder>`: files in a folder of this machine.
    case sqlite(folder: String)
    /// `sqlite::memory:`: kept as long as the process runs.
    case sqliteInMemory
    /// `postgres://user@host1,host2/database?schema=name`: a schema of a PostgreSQL database that every machine reaches. The
    /// connection is libpq's own form of it, without the schema; it may hold a password.
    case postgres(connection: String, schema: String)

    /// The schema of a URL that names none.
    package static let standardSchema = "sluice"
    /// PostgreSQL cuts longer names; the names of roles are made of it.
    private static let maxSchemaBytes = 48

    /// - Throws: `invalidURL`, without quoting the URL, which may hold a password.
    package init(_ text: String) throws(StoreError) {
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = try Self.postgres(text)
            return
        }
        guard text.hasPrefix("sqlite:") else {
            throw StoreError(
                .invalidURL,
                "expected a store URL such as sqlite:/var/lib/sluice or postgres://user@host/database")
        }
        let rest = text.dropFirst("sqlite:".count)
        let folder = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        guard !folder.isEmpty else { throw StoreError(.invalidURL, "sqlite: needs a folder: sqlite:<folder>") }
        self = rest == ":memory:" ? .sqliteInMemory : .sqlite(folder: String(folder))
    }

    private static func postgres(_ text: String) throws(StoreError) -> StoreURL {
        guard let mark = text.firstIndex(of: "?") else { return .postgres(connection: text, schema: standardSchema) }
        let items = text[text.index(after: mark)...].split(separator: "&")
        let named = items.filter { $0.hasPrefix("schema=") }
        let others = items.filter { !$0.hasPrefix("schema=") }
        guard named.count <= 1 else { throw StoreError(.invalidURL, "the store URL names several schemas") }
        let schema = named.first.map { String($0.dropFirst("schema=".count)) } ?? standardSchema
        let isName =
            schema.first?.isNumber == false && schema.utf8.count <= maxSchemaBytes
            && schema.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
        guard isName, !schema.hasPrefix("pg_") else {
            throw StoreError(
                .invalidURL,
                "schema: expected a lower-case letter or _, then up to \(maxSchemaBytes - 1) of those and digits, not pg_..."
            )
        }
        let base = String(text[..<mark])
        return .postgres(
            connection: others.isEmpty ? base : "\(base)?\(others.joined(separator: "&"))", schema: schema)
    }

    /// The folder on this machine that holds the data, if there is one.
    package var folder: String? {
        switch self {
        case .sqlite(let folder): folder
        case .sqliteInMemory, .postgres: nil
        }
    }
}
