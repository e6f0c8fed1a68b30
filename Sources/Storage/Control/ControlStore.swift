/// Apps, accounts and campaigns: everything that belongs to the cluster rather than to a slice.
package protocol ControlStore: AppStore, AccountStore, CampaignStore {
    func userCount(app: String) async throws(StoreError) -> Int
}

package enum ControlStores {
    /// Opens the store that a URL names: `sqlite:<folder>` keeps `<folder>/control.sqlite`, which several processes of
    /// one machine may open; `sqlite::memory:` is forgotten with the process.
    /// - Throws: `invalidURL` (without quoting the URL, which may hold a password), `unavailable`, `corrupt`.
    package static func open(url: String) async throws(StoreError) -> any ControlStore {
        guard let colon = url.firstIndex(of: ":") else {
            throw StoreError(.invalidURL, "a store URL begins with its kind: expected sqlite:<folder>")
        }
        let rest = String(url[url.index(after: colon)...])
        switch url[..<colon] {
        case "sqlite":
            if rest == ":memory:" { return try await SQLiteControlStore.inMemory() }
            let folder = rest.hasPrefix("//") ? String(rest.dropFirst(2)) : rest
            guard !folder.isEmpty else { throw StoreError(.invalidURL, "sqlite: needs a folder: sqlite:<folder>") }
            return try await SQLiteControlStore.open(folder: folder)
        case let kind:
            throw StoreError(.invalidURL, "a store of kind \(kind) is not offered; expected sqlite:<folder>")
        }
    }
}
