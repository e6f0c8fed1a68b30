import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Digests of everything that a part of a store keeps: of each table, and of each realm through all tables that name it.
struct PartDigest: Sendable {
    private(set) var tables: [String: String] = [:]
    private(set) var realms: [Int64: [UInt8]] = [:]
    private(set) var whole = ""

    /// What tells a copy from a whole store, and is in one of the two alone.
    static let copyMark = "copy"

    init(of tables: [StoredTable], in part: StorePart, of store: any StoredTables) async throws(StoreError) {
        for table in tables.sorted(by: { $0.name < $1.name }) {
            // By name: the engines may list them in another order.
            let order = table.columns.indices.sorted { table.columns[$0] < table.columns[$1] }
            let realmColumn = part == .control ? nil : table.columns.firstIndex(of: "realm")
            let nameColumn = table.name == "settings" ? table.columns.firstIndex(of: "name") : nil
            var hash = SHA256()
            var pages = PageSize()
            var last: [StoredValue]?
            while true {
                let rows = try await store.rows(of: table, in: part, after: last, limit: pages.limit)
                guard let end = rows.last else { break }
                for row in rows {
                    if let nameColumn, row[nameColumn] == .text(Self.copyMark) { continue }
                    var encoded: [UInt8] = []
                    for column in order { row[column].append(to: &encoded) }
                    let digest = Array(SHA256.hash(data: encoded))
                    hash.update(data: digest)
                    if let realmColumn, case .integer(let realm) = row[realmColumn] {
                        let before = realms[realm] ?? []
                        realms[realm] = Array(SHA256.hash(data: before + Array(table.name.utf8) + digest))
                    }
                }
                last = table.key(of: end)
                pages.adapt(to: rows.reduce(0) { $0 + $1.reduce(0) { $0 + $1.size } })
            }
            self.tables[table.name] = Self.hex(hash.finalize())
        }
        whole = Self.combined(self.tables.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    }

    static func combined(_ digests: [String]) -> String {
        hex(SHA256.hash(data: Array(digests.joined(separator: "\n").utf8)))
    }

    /// Where two parts differ, in a few words.
    func difference(to other: PartDigest) -> String {
        let tables = tables.filter { other.tables[$0.key] != $0.value }.keys.sorted()
        let realms = Set(realms.keys).union(other.realms.keys).filter { self.realms[$0] != other.realms[$0] }.sorted()
        let list = realms.prefix(10).map(String.init).joined(separator: ", ")
        return "tables \(tables.joined(separator: ", "))"
            + (realms.isEmpty ? "" : "; \(realms.count) realms, among them those numbered \(list)")
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
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
