import Foundation
import GRDB
import Storage
import SyncModel

/// A folder of SQLite stores, for reading only.
struct SQLiteStoreInspector: StoreInspector {
    /// Nil: in memory, where nothing can be read beside the process that has it.
    let folder: String?

    var place: String? { folder }

    var files: StoreFiles? {
        folder.map { folder in
            StoreFiles(folder: folder, control: "\(folder)/control.sqlite") { slice in
                let file = SQLiteSliceStore.file(of: slice, in: folder)
                return (data: file, log: "\(file)-wal")
            }
        }
    }

    /// Commits wait for the disk (`synchronous=FULL`).
    func durability() async throws(StoreError) -> StoreDurability { folder == nil ? .memory : .oneDisk }

    func obstacle() async throws(StoreError) -> String? { nil }

    func slices() async throws(StoreError) -> [SliceNumber] {
        let folder = try existingFolder()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix("slice-"), name.hasSuffix(".sqlite") else { return nil }
            return Int(name.dropFirst(6).dropLast(7)).map { SliceNumber($0) }
        }
        .sorted()
    }

    func reader(for slice: SliceNumber) async throws(StoreError) -> any SliceReader {
        let file = SQLiteSliceStore.file(of: slice, in: try existingFolder())
        do {
            return try await onOwnThread { try SQLiteSliceReader(slice: slice, file: file) }
        } catch {
            throw SQLiteSliceStore.translate(error, slice: slice)
        }
    }

    private func existingFolder() throws(StoreError) -> String {
        guard let folder else { throw StoreError(.notFound, "a store in memory can only be read by its own process") }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw StoreError(.notFound, "there is no store at \(folder): is the store URL right, and on this machine?")
        }
        return folder
    }
}

// MARK: - The control file

extension SQLiteStoreInspector {
    func cluster() async throws(StoreError) -> StoredCluster {
        guard let files, FileManager.default.fileExists(atPath: files.control) else { return .none }
        if let copied = try await copied() { throw StoreError.unfinishedCopy(of: copied, at: files.folder) }
        return try await readControl { db in
            guard try db.tableExists("settings") else { return .none }
            let settings = try ClusterSettings(db)
            try StoreError.unfinishedGrowth(settings.values[SliceGrowth.setting], at: files.folder)
            if let cluster = settings.cluster { return .named(cluster) }
            // A process that was stopped between the file and its first row has made nothing.
            return try settings.values.isEmpty && !db.hasApps ? .none : .unnamed
        }
    }

    /// The cluster of which this is an unfinished copy; nil if it is none.
    func copied() async throws(StoreError) -> String? {
        guard let files, FileManager.default.fileExists(atPath: files.control) else { return nil }
        return try await readControl { db in
            try db.tableExists("settings") ? try ClusterSettings(db).copied : nil
        }
    }

    func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] {
        try await readControl { try ClusterSettings($0).slicesMade() }
    }

    func recordedSliceCount() async throws(StoreError) -> Int? {
        try await readControl { try ClusterSettings($0).sliceCount }
    }

    func controlProblems(limit: Int) async throws(StoreError) -> [String] {
        try await readControl { db in
            try String.fetchAll(db, sql: "PRAGMA quick_check(\(limit))").filter { $0 != "ok" }
        }
    }

    private func readControl<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let file = "\(try existingFolder())/control.sqlite"
        guard FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.notFound, "there is no control store \(file)")
        }
        return try await SQLiteFiles.use(
            file, as: "control.reader", readsOnly: true, orSay: "the control store \(file) cannot be read"
        ) { try $0.read(body) }
    }
}

extension Database {
    fileprivate var hasApps: Bool {
        get throws { try Int.fetchOne(self, sql: "SELECT count(*) FROM apps") != 0 }
    }
}
