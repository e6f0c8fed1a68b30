import Changesets
import Query
import RealmState
import SyncModel

/// Checks a file of recorded queries: what each selects, how it is written, and that it is refused where the reference refuses it.
package struct QueryCheck {
    private let realm: RecordedRealm
    private var report: FileReport

    /// - Parameter limit: how many differences the report keeps.
    package static func check(_ file: InputFile, limit: Int = 3) -> FileReport {
        var report = FileReport(file: file.name, unit: .queries, limit: limit)
        var check: QueryCheck?
        for line in file.lines {
            guard let json = try? JSONParser.parse(Array(line.bytes)), let members = json.objectValue else {
                report.add(line.malformed("expected a JSON object"))
                report.verdict.count(false)
                return report
            }
            if check != nil {
                check?.check(members, line)
            } else if let realm = RecordedRealm(json) {
                check = QueryCheck(realm: realm, report: report)
            } else {
                report.add(line.malformed("expected a schema and objects"))
                report.verdict.count(false)
                return report
            }
        }
        guard let check, check.report.verdict != Verdict() else {
            report.add(ConformanceError(.malformed, "expected a query a line, found none", file: file.name))
            report.verdict.count(false)
            return report
        }
        return check.report
    }

    private mutating func check(_ members: [String: JSONValue], _ line: InputLine) {
        guard let query = RecordedQuery(members, defaultClass: realm.className) else {
            report.add(line.malformed("expected a query and what it gives"))
            report.verdict.count(false)
            return
        }
        let differences = differences(query)
        let accident = query.accident ?? (differences.isEmpty ? nil : deliberateDifference(query))
        if let accident {
            report.accept(accident)
            report.verdict.count(true)
            return
        }
        report.verdict.count(differences.isEmpty)
        for message in differences.prefix(1) {
            report.add(Difference(.query, line: line.number ?? 0, event: query.text, message: message))
        }
    }

    private func differences(_ query: RecordedQuery) -> [String] {
        let selected: Selection
        do throws(QueryError) {
            selected = try select(query.text, query)
        } catch {
            return query.isRefused ? [] : ["expected \(query.canonical ?? ""), found the error: \(error)"]
        }
        if query.isAbort { return [] }
        if query.isRefused { return ["expected a refusal (\(query.reason)), found \(selected.canonical)"] }
        var messages: [String] = []
        if let canonical = query.canonical, !Self.equal(canonical, selected.canonical) {
            messages.append("expected \(canonical), found \(selected.canonical)")
        }
        if selected.ids != query.ids { messages.append(Self.difference(query.ids, selected.ids)) }
        guard let canonical = query.canonical, !query.hasCanonicalAccident else { return messages }
        do throws(QueryError) {
            let again = try select(canonical, query)
            let ids = query.canonicalIDs ?? query.ids
            if again.ids != ids { messages.append("its canonical text: " + Self.difference(ids, again.ids)) }
            let text = query.canonicalAgain ?? canonical
            if !query.cannotBeReadAgain, !Self.equal(text, again.canonical) {
                messages.append("its canonical text: expected \(text), found \(again.canonical)")
            }
        } catch {
            if !query.cannotBeReadAgain {
                messages.append("its canonical text \(canonical): found the error: \(error)")
            }
        }
        return messages
    }

    /// The name of an accident of the reference that shows in the canonical text, while the same objects are selected.
    private func deliberateDifference(_ query: RecordedQuery) -> String? {
        guard !query.isRefused, let canonical = query.canonical, query.text.lowercased().contains("between"),
            let selected = try? select(query.text, query), selected.ids == query.ids
        else { return nil }
        // The reference forgets keys and [*] before BETWEEN.
        if canonical.contains("['']") { return "between-on-path" }
        // The reference reads bounds of other types as integers.
        return canonical.contains(" between {") && !selected.canonical.contains(" between {")
            ? "between-other-type" : nil
    }

    private static func difference(_ expected: [ObjectKey], _ found: [ObjectKey]) -> String {
        let missing = expected.filter { !found.contains($0) }.prefix(5).map(\.text)
        let surplus = found.filter { !expected.contains($0) }.prefix(5).map(\.text)
        return "expected \(expected.count) objects, found \(found.count); missing \(missing), too many \(surplus)"
    }

    private struct Selection {
        var canonical: String
        var ids: [ObjectKey]
    }

    private func select(_ text: String, _ query: RecordedQuery) throws(QueryError) -> Selection {
        let realm = realm
        let parsed = try ObjectQuery(
            ByteString(text), on: query.className, schema: realm.schema, arguments: query.arguments,
            exists: { realm.object(at: $0) != nil })
        var rows = (realm.rows[query.className] ?? []).filter { parsed.matches($0.object, key: $0.key, in: realm) }
        rows = parsed.arrangement.applied(to: rows, of: query.className, in: realm)
        let ids = rows.map(\.key)
        return Selection(canonical: parsed.canonicalText, ids: query.isOrdered ? ids : ids.sorted())
    }

    /// Equal but for the order of what is in `IN { }`.
    static func equal(_ left: String, _ right: String) -> Bool {
        left == right || MembershipOrder.sorted(left) == MembershipOrder.sorted(right)
    }
}

/// Brings the elements of each `IN {..}` of a canonical text into one order.
private enum MembershipOrder {
    static func sorted(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position...].starts(with: " IN {".utf8) {
                result += Array(" IN {".utf8)
                let (elements, end) = elements(bytes, position + 5)
                result += elements.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: ",")])
                position = end
            } else if bytes[position] == UInt8(ascii: "\"") {
                let end = bytes[(position + 1)...].firstIndex(of: UInt8(ascii: "\"")) ?? bytes.count - 1
                result += bytes[position...end]
                position = end + 1
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return result
    }

    private static func elements(_ bytes: [UInt8], _ start: Int) -> ([[UInt8]], Int) {
        var elements: [[UInt8]] = [[]]
        var position = start
        var isQuoted = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, byte == UInt8(ascii: "}") { break }
            if !isQuoted, byte == UInt8(ascii: ",") {
                elements.append([])
                position += 1
                if position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
                continue
            }
            elements[elements.count - 1].append(byte)
            position += 1
        }
        return (elements, position)
    }
}
