/// Where a cluster's data is kept: the setting `store.url`, taken apart.
package enum StoreURL: Sendable, Equatable {
    /// `sqlite:<folder>`: files in a folder of this machine.
    case sqlite(folder: String)
    /// `sqlite::memory:`: kept as long as the process runs.
    case sqliteInMemory

    /// - Throws: `invalidURL`, without quoting the URL, which may hold a password.
    package init(_ text: String) throws(StoreError) {
        guard text.hasPrefix("sqlite:") else {
            throw StoreError(.invalidURL, "expected a store URL such as sqlite:/var/lib/sluice")
        }
        let rest = text.dropFirst("sqlite:".count)
        let folder = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        guard !folder.isEmpty else { throw StoreError(.invalidURL, "sqlite: needs a folder: sqlite:<folder>") }
        self = rest == ":memory:" ? .sqliteInMemory : .sqlite(folder: String(folder))
    }

    /// The folder on this machine that holds the data, if there is one.
    package var folder: String? {
        switch self {
        case .sqlite(let folder): folder
        case .sqliteInMemory: nil
        }
    }
}
