import ArgumentParser
import Changesets
import Documents
import Foundation
import Inspection
import Rules

/// The form of a file of documents.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    case json
    case bson
    case csv
    case archive

    /// The form that a file's name says, without `.gz`; nil if it says none.
    init?(fileName: String) {
        switch (fileName as NSString).pathExtension.lowercased() {
        case "json", "ndjson", "jsonl": self = .json
        case "bson": self = .bson
        case "csv": self = .csv
        case "archive": self = .archive
        default: return nil
        }
    }

    func source(types: [ByteString: CSVType]) -> any DocumentSource {
        switch self {
        case .json: JSONSource()
        case .bson: BSONSource()
        case .csv: CSVSource(types: types)
        case .archive: ArchiveSource()
        }
    }
}

/// A file of documents in one of the known forms, packed by gzip or not.
struct ImportFile {
    let path: String
    /// The class that the file's name says; nil for an archive and for standard input.
    let className: String?
    /// How many bytes of the file have been read.
    private(set) var bytesRead = 0
    private let input: ByteInput
    private let format: ImportFormat?
    private let types: (String?) -> [ByteString: CSVType]
    private var gzip: GzipInflation?
    /// Nil until the first bytes have been looked at.
    private var source: (any DocumentSource)?
    private var isAtEnd = false
    private var isDone = false

    /// - Parameters:
    ///   - format: nil: what its name says, and its first bytes.
    ///   - types: of a class's properties, for cells of rows.
    init(path: String, format: ImportFormat?, types: @escaping (String?) -> [ByteString: CSVType])
        throws(CommandFailure)
    {
        self.path = path
        self.format = format ?? ImportFormat(fileName: Self.unpackedName(of: path))
        self.types = types
        let name = (Self.unpackedName(of: path) as NSString).deletingPathExtension
        className = path == "-" ? nil : ClassFile.className(ofFile: name)
        input = try ByteInput(file: path)
    }

    /// The next document; nil at the end.
    mutating func next() async throws -> SourceDocument? {
        guard !isDone else { return nil }
        do {
            while true {
                if let found = try source?.next() { return found }
                guard !isAtEnd else {
                    isDone = true
                    return try source?.last()
                }
                try await fill()
            }
        } catch let error as DocumentSourceError {
            throw CommandFailure(.badInput, "\(path), \(error)")
        } catch let problem as ExportProblem {
            throw CommandFailure(.badInput, "\(path): \(problem)")
        }
    }

    private mutating func fill() async throws {
        if let piece = try gzip?.next() { return try add(piece) }
        let chunk = try await input.read()
        if chunk.isEmpty {
            try gzip?.finish()
            isAtEnd = true
        } else if let gzip {
            gzip.add(chunk)
        } else if bytesRead == 0, chunk.starts(with: GzipInflation.magic) {
            gzip = try GzipInflation()
            gzip?.add(chunk)
        } else {
            try add(chunk)
        }
        bytesRead += chunk.count
    }

    private mutating func add(_ bytes: [UInt8]) throws {
        if source == nil { source = try known(by: bytes).source(types: types(className)) }
        source?.add(bytes)
    }

    private func known(by first: [UInt8]) throws -> ImportFormat {
        if first.starts(with: ArchiveSource.magic) { return .archive }
        if let format { return format }
        let begin = first.first { $0 > UInt8(ascii: " ") }
        if begin == UInt8(ascii: "{") || begin == UInt8(ascii: "[") { return .json }
        throw CommandFailure(
            .badInput,
            "\(path): neither the name nor the first bytes say what it is; say --format \(ImportFormat.allCases.map(\.rawValue).joined(separator: "|"))"
        )
    }

    private static func unpackedName(of path: String) -> String {
        let name = (path as NSString).lastPathComponent
        return name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
    }

    /// The files of documents at a path: itself, or what a folder of mongodump has, without what is about indexes and the server.
    static func paths(at path: String) throws(CommandFailure) -> [String] {
        var isFolder: ObjCBool = false
        guard path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        else {
            return [path]
        }
        let names = (FileManager.default.subpaths(atPath: path) ?? []).sorted().filter { name in
            let file = unpackedName(of: name)
            let databases = (name as NSString).pathComponents.dropLast()
            guard !databases.contains(where: { ArchiveSource.systems.contains(ByteString($0)) }) else { return false }
            return ImportFormat(fileName: file) != nil && !file.hasSuffix(".metadata.json")
                && !file.hasPrefix("system.")
                && file != "oplog.bson" && file != "prelude.json"
        }
        guard !names.isEmpty else {
            throw CommandFailure(
                .badInput, "\(path): no file of documents is in the folder: .bson, .json or .csv, or packed by gzip")
        }
        return names.map { "\(path)/\($0)" }
    }
}
