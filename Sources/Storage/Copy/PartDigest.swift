import Crypto
import SyncModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Digests of everything that a part of a store keeps: of each table, and of each realm through all tables that name it.
struct PartDigest: Sendable {
    private(set) var tables: [String: DigestSum] = [:]
    private(set) var realms: [Int64: DigestSum] = [:]
    private(set) var whole = ""

    init(of tables: [StoredTable], in part: StorePart, of store: any StoredTables) async throws(StoreError) {
        for table in tables.sorted(by: { $0.name < $1.name }) {
            let hashing = RowHashing(table, in: part)
            // The engines have their rows in orders of their own, so a table's digest is a sum.
            var sum = DigestSum()
            var pages = PageSize()
            var end: [StoredValue]?
            repeat {
                let page = try await store.page(of: table, in: part, after: end, limit: pages.limit)
                for row in page.rows {
                    guard let digest = hashing.digest(of: row) else { continue }
                    sum.add(digest)
                    if let realm = hashing.realm(of: row) { realms[realm, default: DigestSum()].add(digest) }
                }
                end = page.end
                pages.adapt(to: page.bytes)
            } while end != nil
            self.tables[table.name] = sum
        }
        whole = Self.combined(self.tables.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" })
    }

    static func combined(_ digests: [String]) -> String {
        HexBytes(Array(SHA256.hash(data: Array(digests.joined(separator: "\n").utf8)))).hex
    }

    /// Where two parts differ, in a few words.
    func difference(to other: PartDigest) -> String {
        let tables = tables.filter { other.tables[$0.key] != $0.value }.keys.sorted()
        let realms = Set(realms.keys).union(other.realms.keys).filter { self.realms[$0] != other.realms[$0] }.sorted()
        let list = realms.prefix(10).map(String.init).joined(separator: ", ")
        return "tables \(tables.joined(separator: ", "))"
            + (realms.isEmpty ? "" : "; \(realms.count.counted("realm")), among them those numbered \(list)")
    }
}

/// The sum of digests, whatever the order, and how many they are.
struct DigestSum: Sendable, Equatable {
    private var words: [UInt64] = [0, 0, 0, 0]
    private var count = 0

    mutating func add(_ digest: SHA256.Digest) {
        digest.withUnsafeBytes { bytes in
            for index in words.indices {
                words[index] &+= bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
            }
        }
        count += 1
    }

    var text: String {
        "\(count) " + HexBytes(words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }).hex
    }
}

/// How a table's rows are digested: the same in every engine.
private struct RowHashing {
    private let name: [UInt8]
    private let order: [Int]
    private let realmColumn: Int?
    private let settingColumn: Int?

    init(_ table: StoredTable, in part: StorePart) {
        name = Array(table.name.utf8)
        // By name: the engines may list them in another order.
        order = table.columns.indices.sorted { table.columns[$0] < table.columns[$1] }
        // A realm's own row has its number as `id`.
        realmColumn = part == .control ? nil : table.columns.firstIndex(of: table.name == "realms" ? "id" : "realm")
        settingColumn = table.name == "settings" ? table.columns.firstIndex(of: "name") : nil
    }

    /// Nil for what tells a copy from a whole store, and is in one of the two alone.
    func digest(of row: [StoredValue]) -> SHA256.Digest? {
        if let settingColumn, case .text(let setting) = row[settingColumn], CopyMark.isMark(setting) { return nil }
        var encoded = name
        for column in order { row[column].append(to: &encoded) }
        return SHA256.hash(data: encoded)
    }

    func realm(of row: [StoredValue]) -> Int64? {
        guard let realmColumn, case .integer(let realm) = row[realmColumn] else { return nil }
        return realm
    }
}

extension StoredValue {
    /// Appends what no other value is encoded to.
    fileprivate func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0)
        case .integer(let number): Self.append(1, UInt64(bitPattern: number), to: &bytes)
        case .real(let number): Self.append(2, number.bitPattern, to: &bytes)
        case .text(let text):
            Self.append(3, UInt64(text.utf8.count), to: &bytes)
            bytes.append(contentsOf: text.utf8)
        case .bytes(let content):
            Self.append(4, UInt64(content.count), to: &bytes)
            bytes.append(contentsOf: content)
        }
    }

    private static func append(_ kind: UInt8, _ number: UInt64, to bytes: inout [UInt8]) {
        bytes.append(kind)
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
