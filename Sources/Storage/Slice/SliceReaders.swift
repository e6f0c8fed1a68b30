import Foundation
package import Messages

/// A store's slices for reading beside, or without, the cluster.
package struct SliceReaders: Sendable {
    /// Where the files are.
    package let folder: String

    /// - Throws: `invalidURL`; `notFound` if there is no such folder.
    package init(url: String) throws(StoreError) {
        guard url.hasPrefix("sqlite:"), url != "sqlite::memory:" else {
            throw StoreError(.invalidURL, "expected a store URL such as sqlite:/var/lib/sluice")
        }
        let rest = url.dropFirst("sqlite:".count)
        folder = String(rest.hasPrefix("//") ? rest.dropFirst(2) : rest)
        var isFolder: ObjCBool = false
        guard !folder.isEmpty, FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
            isFolder.boolValue
        else {
            throw StoreError(.notFound, "there is no store at \(folder): is the store URL right, and on this machine?")
        }
    }

    package func file(of slice: SliceNumber) -> String { "\(folder)/slice-\(slice).sqlite" }
    package var controlFile: String { "\(folder)/control.sqlite" }

    /// The slices that have a file, in order.
    package var slices: [SliceNumber] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix("slice-"), name.hasSuffix(".sqlite") else { return nil }
            return Int(name.dropFirst(6).dropLast(7)).map { SliceNumber($0) }
        }
        .sorted()
    }

    /// - Throws: `notFound` if the slice has no file; `mismatch` if another version of Sluice wrote it.
    package func reader(for slice: SliceNumber) async throws(StoreError) -> any SliceReader {
        let file = file(of: slice)
        let opened: Result<SQLiteSliceStore, StoreError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try SQLiteSliceStore(reading: slice, file: file)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try opened.get()
    }
}

// MARK: - The control file

extension SliceReaders {
    /// How many slices the cluster was created with; nil if that is not written down yet.
    package func recordedSliceCount() async throws(StoreError) -> Int? {
        try await readControl { try SQLiteControlFile.sliceCount($0) }
    }

    /// What SQLite's own check says; empty if the file is sound.
    package func controlProblems(limit: Int) async throws(StoreError) -> [String] {
        try await readControl { try SQLiteControlFile.problems($0, limit: limit) }
    }

    private func readControl<Value: Sendable>(
        _ body: @escaping @Sendable (String) throws -> Value
    ) async throws(StoreError) -> Value {
        let file = controlFile
        guard FileManager.default.fileExists(atPath: file) else {
            throw StoreError(.notFound, "there is no control store \(file)")
        }
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result { try body(file) }) }
        }
        do {
            return try result.get()
        } catch {
            throw error as? StoreError
                ?? StoreError(.unavailable, "the control store \(file) cannot be read", underlying: error)
        }
    }
}
