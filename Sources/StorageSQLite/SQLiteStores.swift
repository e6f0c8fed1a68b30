import Foundation
package import Storage
package import SyncModel

/// A cluster's stores in SQLite: `control.sqlite` and a `slice-<n>.sqlite` for each slice, in one folder that several processes
/// of a machine may use; or in memory.
package actor SQLiteStores: Stores {
    /// Nil: in memory.
    private let folder: String?
    private var slices: [SliceNumber: Task<any SliceStore, any Error>] = [:]
    private var openedControl: Task<any ControlStore, any Error>?

    private init(_ folder: String?) { self.folder = folder }

    /// Opens nothing yet, and makes the folder with the first store in it.
    package init(folder: String) { self.init(.some(folder)) }

    /// Stores that last as long as the returned object.
    package static func inMemory() -> SQLiteStores { SQLiteStores(nil) }

    package func control() async throws(StoreError) -> any ControlStore {
        let opening =
            openedControl
            ?? Task { [folder] in
                guard let folder else { return try await SQLiteControlStore.inMemory() }
                return try await SQLiteControlStore.open(folder: folder)
            }
        openedControl = opening
        do {
            return try await opening.value
        } catch {
            openedControl = nil
            throw SQLiteFailure.storeError(error, "the control store cannot be opened")
        }
    }

    package func store(for slice: SliceNumber, mayMake: Bool) async throws(StoreError) -> any SliceStore {
        let opening =
            slices[slice]
            ?? Task { [folder] in
                try await onOwnThread {
                    try folder.map { try SQLiteSliceStore(slice: slice, folder: $0, mayMake: mayMake) }
                        ?? SQLiteSliceStore(slice: slice)
                }
            }
        slices[slice] = opening
        do {
            return try await opening.value
        } catch {
            slices[slice] = nil
            throw SQLiteSliceStore.translate(error, slice: slice)
        }
    }

    package nonisolated func inspector() -> any StoreInspector { SQLiteStoreInspector(folder: folder) }
}

/// Runs what blocks, such as opening a file, apart from the cooperative threads.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
