package import AsyncHTTPClient
import Foundation
import NIOHTTP1

/// A bucket of an S3-compatible store: objects `PREFIX/BACKUP/FILE`.
package struct S3Place: BackupPlace {
    /// Files of at most so many bytes go in one request, and others in parts of at least so many.
    package static let partBytes = 8 << 20
    /// The parts that such a store takes of one object, with room to spare.
    private static let maxParts = 9_000
    private static let maxPages = 10_000

    private let address: S3Address
    private let client: S3Client
    private let partBytes: Int

    /// - Parameters:
    ///   - http: is not shut down.
    ///   - pause: before an attempt is repeated for the first time.
    package init(
        _ address: S3Address, http: HTTPClient, partBytes: Int = partBytes, pause: Duration = .seconds(1),
        now: @escaping @Sendable () -> UInt64 = { UInt64(max(0, Date().timeIntervalSince1970)) }
    ) {
        self.address = address
        self.partBytes = partBytes
        client = S3Client(address, http: http, pause: pause, now: now)
    }

    package var words: String { address.words }

    private func key(_ file: String, _ backup: String) -> String { "\(address.prefix)\(backup)/\(file)" }

    // MARK: Listing

    package func names() async throws -> [String] {
        let found = try await list(address.prefix, element: "Prefix", isFolders: true)
        return found.map { String($0.dropFirst(address.prefix.count).dropLast()) }.filter(BackupName.isOne).sorted()
    }

    package func files(of backup: String) async throws -> [String] {
        let folder = key("", backup)
        return try await list(folder, element: "Key", isFolders: false).map { String($0.dropFirst(folder.count)) }
            .filter { !$0.isEmpty }.sorted()
    }

    private func list(_ prefix: String, element: String, isFolders: Bool) async throws -> [String] {
        var found: Set<String> = []
        var token: String?
        for _ in 0..<Self.maxPages {
            var query = [("list-type", "2"), ("prefix", prefix)]
            if isFolders { query.append(("delimiter", "/")) }
            if let token { query.append(("continuation-token", token)) }
            let text = try await client.ask(.GET, "", query: query.map { (name: $0.0, value: $0.1) }).text
            // The answer repeats the prefix that was asked for.
            found.formUnion(S3Answer.all(element, in: text).filter { $0.hasPrefix(prefix) && $0 != prefix })
            token = S3Answer.first("NextContinuationToken", in: text)
            if token == nil { return Array(found) }
        }
        throw BackupError(.unavailable, "\(address.words): the list of objects has no end")
    }

    // MARK: Writing

    package func begin(_ backup: String) async throws {
        guard try await files(of: backup).isEmpty else {
            throw BackupError(.alreadyExists, "there is a backup \(backup) at \(address.words) already")
        }
    }

    package func put(_ source: String, as file: String, of backup: String) async throws {
        let key = key(file, backup)
        let size = try await onFileThread {
            try FileManager.default.attributesOfItem(atPath: source)[.size] as? Int ?? 0
        }
        guard size > partBytes else {
            _ = try await client.ask(.PUT, key, body: try await Self.part(of: source, at: 0, size))
            return
        }
        let began = try await client.ask(.POST, key, query: [("uploads", "")])
        guard let upload = S3Answer.first("UploadId", in: began.text) else {
            throw BackupError(.unavailable, "\(address.words): an upload of \(key) began without an id")
        }
        do {
            try await putParts(of: source, size, key, upload)
        } catch {
            // Parts of an upload that does not end are kept, and paid for, until somebody takes them away.
            _ = try? await client.ask(.DELETE, key, query: [("uploadId", upload)], allowing: [404])
            throw error
        }
    }

    private func putParts(of source: String, _ size: Int, _ key: String, _ upload: String) async throws {
        let bytes = max(partBytes, (size + Self.maxParts - 1) / Self.maxParts)
        var list = ""
        var offset = 0
        var number = 1
        while offset < size {
            let body = try await Self.part(of: source, at: offset, min(bytes, size - offset))
            let answer = try await client.ask(
                .PUT, key, query: [("partNumber", "\(number)"), ("uploadId", upload)], body: body)
            guard let tag = answer.headers.first(name: "etag") else {
                throw BackupError(.unavailable, "\(address.words): part \(number) of \(key) has no ETag")
            }
            list += "<Part><PartNumber>\(number)</PartNumber><ETag>\(S3Answer.encoded(tag))</ETag></Part>"
            offset += body.count
            number += 1
        }
        let end = "<CompleteMultipartUpload>\(list)</CompleteMultipartUpload>"
        let answer = try await client.ask(.POST, key, query: [("uploadId", upload)], body: Array(end.utf8))
        // A failure after the head was sent has the status of success.
        if let code = S3Answer.first("Code", in: answer.text), answer.text.contains("<Error>") {
            throw BackupError(.unavailable, "\(address.words): \(key) was not put together: \(code.prefix(60))")
        }
    }

    private static func part(of path: String, at offset: Int, _ count: Int) async throws -> [UInt8] {
        try await onFileThread {
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(offset))
            let data = try handle.read(upToCount: max(count, 1)) ?? Data()
            guard data.count >= count else { throw BackupError(.corrupt, "\(path) has become shorter") }
            return Array(data.prefix(count))
        }
    }

    // MARK: Reading

    package func fetch(_ file: String, of backup: String, to target: String, maxBytes: Int) async throws {
        let key = key(file, backup)
        let writer = FetchedFile(target, name: key, maxBytes: maxBytes)
        try await client.read(key, begin: { try await writer.begin() }, { try await writer.add($0) })
        try await writer.finish()
    }

    package func remove(_ file: String, of backup: String) async throws {
        _ = try await client.ask(.DELETE, key(file, backup), allowing: [404])
    }

    package func removeFolder(of backup: String) async throws {}
}

/// A file that is being fetched: begun anew with each attempt.
private actor FetchedFile {
    private let path: String
    private let name: String
    private let maxBytes: Int
    private var bytes = 0
    private var handle: FileHandle?

    init(_ path: String, name: String, maxBytes: Int) {
        self.path = path
        self.name = name
        self.maxBytes = maxBytes
    }

    func begin() async throws {
        let path = path
        try? handle?.close()
        bytes = 0
        handle = try await onFileThread {
            try? FileManager.default.removeItem(atPath: path)
            return try Packing.make(path)
        }
    }

    func add(_ piece: [UInt8]) async throws {
        bytes += piece.count
        guard bytes <= maxBytes else { throw BackupError(.corrupt, "\(name) is longer than it may be") }
        let handle = handle
        try await onFileThread { try handle?.write(contentsOf: piece) }
    }

    func finish() async throws {
        let handle = handle
        try await onFileThread {
            try handle?.synchronize()
            try handle?.close()
        }
    }
}
