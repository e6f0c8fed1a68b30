import Foundation
package import Messages

/// Opens the stores of slices. Holds each open, so that a store is one object in a process.
package actor SliceStores {
    private enum Location: Sendable {
        case memory
        case folder(String)
    }

    private let location: Location
    private var stores: [SliceNumber: Task<any SliceStore, any Error>] = [:]

    private init(_ location: Location) { self.location = location }

    /// These stores, whatever they are made of, and stores in memory for all other slices.
    package init(given: [any SliceStore]) {
        location = .memory
        for store in given { stores[store.slice] = Task { store } }
    }

    /// - Parameter url: `sqlite:<folder>`, or `sqlite::memory:` for stores that last as long as the returned object.
    /// - Throws: `invalidURL`, without quoting the URL, which may hold a password.
    package static func open(url: String) throws(StoreError) -> SliceStores {
        guard url.hasPrefix("sqlite:") else {
            throw StoreError(.invalidURL, "expected a store URL such as sqlite:/var/lib/sluice")
        }
        let rest = url.dropFirst("sqlite:".count)
        if rest == ":memory:" { return SliceStores(.memory) }
        let folder = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        guard !folder.isEmpty else { throw StoreError(.invalidURL, "sqlite: needs a folder: sqlite:<folder>") }
        return SliceStores(.folder(String(folder)))
    }

    /// Whether the slice has a store already: one that is only to be looked at must not be made by looking.
    package func exists(_ slice: SliceNumber) -> Bool {
        switch location {
        case .memory: stores[slice] != nil
        case .folder(let path): FileManager.default.fileExists(atPath: SQLiteSliceStore.file(of: slice, in: path))
        }
    }

    package func store(for slice: SliceNumber) async throws(StoreError) -> any SliceStore {
        // The task is shared by everybody who asks while the file is being opened; opening blocks, so it has a thread.
        let opening = stores[slice] ?? Task { [location] in try await Self.open(slice, at: location) }
        stores[slice] = opening
        do {
            return try await opening.value
        } catch {
            stores[slice] = nil
            throw error as? StoreError ?? StoreError(.unavailable, "slice \(slice) cannot be opened", underlying: error)
        }
    }

    private static func open(_ slice: SliceNumber, at location: Location) async throws -> any SliceStore {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        switch location {
                        case .memory: try SQLiteSliceStore(slice: slice)
                        case .folder(let path): try SQLiteSliceStore(slice: slice, folder: path)
                        }
                    })
            }
        }
    }
}
