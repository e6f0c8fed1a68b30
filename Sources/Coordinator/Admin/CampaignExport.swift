import AdminAPI
import Foundation
import Hummingbird
import NIOCore
import Storage
import SyncModel

/// A campaign's client realms as a file. They are read page by page while the client takes them: however many there are, no more than
/// a page is held.
struct CampaignExport: Sendable {
    enum Format: String, CaseIterable, Sendable { case csv, json }

    private static let page = 1_000
    private static let columns = [
        "partition", "clientFile", "user", "outcome", "lastSeen", "foundAt", "notifiedAt", "updatedAt", "supersededBy",
        "reason", "result", "evidence", "unsynced", "recovered", "discarded",
    ]

    let context: CoordinatorContext
    private let places = EventPlaces(AdminLimits.exports)

    /// - Throws: `not_found`; `too_many_streams`.
    func response(campaign: String, as format: Format, _ filter: ClientRealmFilter) async throws -> Response {
        // To look at the campaign is to count all its client realms.
        let first = try await context.store.clientRealms(campaign: campaign, filter, after: nil, limit: 1)
        if first.isEmpty { _ = try await context.campaign(campaign) }
        let type = format == .csv ? "text/csv" : "application/json"
        let file = "\(Self.fileName(campaign)).\(format.rawValue)"
        return try places.require().response(
            headers: [
                .contentType: type, .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(file)\"",
            ]
        ) { writer in try await write(campaign, format, filter, to: &writer) }
    }

    private func write(
        _ campaign: String, _ format: Format, _ filter: ClientRealmFilter, to writer: inout any ResponseBodyWriter
    ) async throws {
        var isFirst = true
        var after: ClientRealmCursor?
        var text = format == .csv ? Self.columns.joined(separator: ",") + "\r\n" : "[\n"
        while true {
            let realms = try await context.store.clientRealms(
                campaign: campaign, filter, after: after, limit: Self.page)
            for realm in realms {
                if format == .csv {
                    text += Self.values(of: realm).map(CSV.field).joined(separator: ",") + "\r\n"
                } else {
                    text += (isFirst ? "" : ",\n")
                    text += String(decoding: try AdminResponse.encoder.encode(realm), as: UTF8.self)
                }
                isFirst = false
            }
            guard let last = realms.last, realms.count == Self.page else { break }
            try await writer.write(ByteBuffer(string: text))
            text = ""
            after = ClientRealmCursor(partition: last.partition, clientFile: last.clientFile)
        }
        if format == .json { text += isFirst ? "]\n" : "\n]\n" }
        try await writer.write(ByteBuffer(string: text))
    }

    private static func values(of realm: CampaignClientRealm) -> [CSV.Value] {
        func number(_ value: UInt64?) -> CSV.Value { value.map { .number("\($0)") } ?? .none }
        func text(_ value: String?) -> CSV.Value { value.map(CSV.Value.text) ?? .none }
        let changesets = realm.report?.changesets
        return [
            .text(realm.partition), .number("\(realm.clientFile)"), .text(realm.user), .text(realm.outcome.rawValue),
            number(realm.lastSeen), number(realm.foundAt), number(realm.notifiedAt), number(realm.updatedAt),
            text(realm.supersededBy), text(realm.reason), text(realm.report?.result.rawValue),
            text(realm.report?.evidence.rawValue),
            number((changesets?.unsynced).map(UInt64.init)), number((changesets?.recovered).map(UInt64.init)),
            number((changesets?.discarded).map(UInt64.init)),
        ]
    }

    /// A campaign's id may hold what file names and headers may not.
    static func fileName(_ campaign: String) -> String {
        String(campaign.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "_" })
    }
}

/// Values of a CSV file, by RFC 4180.
enum CSV {
    enum Value: Sendable, Equatable {
        case none
        case number(String)
        /// Text that users may have written.
        case text(String)
    }

    static func field(_ value: Value) -> String {
        switch value {
        case .none: return ""
        case .number(let text): return text
        case .text(var text):
            // A spreadsheet would take it for a formula.
            if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) { text = "'" + text }
            let isPlain = !text.unicodeScalars.contains { ",\"\n\r".unicodeScalars.contains($0) }
            return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
        }
    }
}
