import Changesets
package import ExtendedJSON

/// An aggregation at work: takes documents one by one, of one realm or of several, and has the results at the end. Groups of several realms
/// meet in it: what it holds is bounded by what comes of them together.
package struct PipelineRun {
    private enum State {
        case match(PipelineCondition)
        case project(PipelineProjection)
        case skip(Int)
        case limit(Int)
        case sort([Pipeline.SortField], keep: Int?, [BSONDocument])
        case count(ByteString, Int64)
        case group(PipelineGroup, Groups)

        /// Whether nothing comes out before everything has gone in.
        var holdsBack: Bool {
            switch self {
            case .sort, .count, .group: true
            case .match, .project, .skip, .limit: false
            }
        }
    }

    /// The groups by their keys, in the order in which they were met.
    private struct Groups {
        var places: [BSONValue: Int] = [:]
        var keys: [BSONValue] = []
        var accumulators: [[PipelineGroup.Accumulator]] = []
    }

    private let limits: PipelineLimits
    private var states: [State]
    private var results: [BSONDocument] = []
    private var resultBytes = 0
    /// What sorts and groups hold, in bytes.
    private var held = 0

    package init(_ pipeline: Pipeline) {
        limits = pipeline.limits
        let stages = pipeline.stages
        states = stages.enumerated().map { index, stage in
            switch stage {
            case .match(let condition): .match(condition)
            case .project(let projection): .project(projection)
            case .skip(let count): .skip(count)
            case .limit(let count): .limit(count)
            case .sort(let fields): .sort(fields, keep: Self.kept(stages[(index + 1)...]), [])
            case .count(let name): .count(name, 0)
            case .group(let group): .group(group, Groups())
            }
        }
    }

    /// How many documents of a sort are wanted at most; nil: all.
    private static func kept(_ following: ArraySlice<Pipeline.Stage>) -> Int? {
        var skipped = 0
        for stage in following {
            switch stage {
            case .skip(let count): skipped = skipped.addingReportingOverflow(count).partialValue
            case .limit(let count):
                let (sum, isTooLarge) = skipped.addingReportingOverflow(count)
                return isTooLarge ? nil : sum
            case .project: break
            case .match, .sort, .count, .group: return nil
            }
        }
        return nil
    }

    /// Whether another document could change anything.
    package var wantsMore: Bool {
        for state in states {
            if case .limit(0) = state { return false }
            if state.holdsBack { return true }
        }
        return true
    }

    /// - Throws: `limit`.
    package mutating func take(_ document: BSONDocument) throws(DocumentError) { try pass(document, from: 0) }

    private mutating func pass(_ document: BSONDocument, from first: Int) throws(DocumentError) {
        var document = document
        for index in first..<states.count {
            switch states[index] {
            case .match(let condition): guard condition.holds(for: document) else { return }
            case .project(let projection): document = projection.applied(to: document)
            case .skip(let left):
                guard left == 0 else {
                    states[index] = .skip(left - 1)
                    return
                }
            case .limit(let left):
                guard left > 0 else { return }
                states[index] = .limit(left - 1)
            case .sort: return try sort(document, at: index)
            case .count(let name, let count):
                states[index] = .count(name, count + 1)
                return
            case .group: return try group(document, at: index)
            }
        }
        results.append(document)
        resultBytes += document.weight
        guard results.count <= limits.results, resultBytes <= limits.resultBytes else {
            throw DocumentError(
                .limit,
                "expected at most \(limits.results) documents of \(limits.resultBytes >> 20) MiB to come of it: add a $limit"
            )
        }
    }

    private mutating func hold(_ bytes: Int) throws(DocumentError) {
        held += bytes
        guard held <= limits.heldBytes else {
            throw DocumentError(
                .limit,
                "expected at most \(limits.heldBytes >> 20) MiB to sort and to group at once: select fewer objects, or show less of them before"
            )
        }
    }

    private mutating func sort(_ document: BSONDocument, at index: Int) throws(DocumentError) {
        guard case .sort(let fields, let keep, var documents) = states[index] else { return }
        // Taken out, so that it is not copied.
        states[index] = .sort(fields, keep: keep, [])
        documents.append(document)
        held += document.weight
        if let keep, documents.count >= 2 * min(keep, 1 << 30) + 1_000 || held > limits.heldBytes {
            held -= Self.trim(&documents, to: keep, by: fields)
        }
        states[index] = .sort(fields, keep: keep, documents)
        try hold(0)
    }

    /// - Returns: how many bytes went.
    private static func trim(_ documents: inout [BSONDocument], to count: Int, by fields: [Pipeline.SortField]) -> Int {
        documents = sorted(documents, by: fields)
        guard documents.count > count else { return 0 }
        let bytes = documents[count...].reduce(0) { $0 + $1.weight }
        documents.removeSubrange(count...)
        return bytes
    }

    /// Documents that are alike stay in the order in which they came.
    private static func sorted(_ documents: [BSONDocument], by fields: [Pipeline.SortField]) -> [BSONDocument] {
        let keyed = documents.enumerated().map { place, document in
            (place: place, keys: fields.map { $0.path.value(in: document) ?? .null }, document: document)
        }
        return keyed.sorted { left, right in
            for (index, field) in fields.enumerated() {
                let order = BSONOrder.compare(left.keys[index], right.keys[index])
                if order != 0 { return (order < 0) == field.isAscending }
            }
            return left.place < right.place
        }.map(\.document)
    }

    private mutating func group(_ document: BSONDocument, at index: Int) throws(DocumentError) {
        guard case .group(let group, var groups) = states[index] else { return }
        states[index] = .group(group, Groups())
        let value = group.key.value(of: document) ?? .null
        let key = BSONOrder.key(value)
        var grown = 0
        let place: Int
        if let known = groups.places[key] {
            place = known
        } else {
            guard groups.keys.count < limits.groups else {
                throw DocumentError(.limit, "expected at most \(limits.groups) groups")
            }
            place = groups.keys.count
            groups.places[key] = place
            groups.keys.append(value)
            groups.accumulators.append(group.fields.map { PipelineGroup.Accumulator($0.function) })
            grown += 2 * value.weight + 64 * (1 + group.fields.count)
        }
        for (number, field) in group.fields.enumerated() {
            grown += groups.accumulators[place][number].take(field.operand.value(of: document))
        }
        states[index] = .group(group, groups)
        try hold(grown)
    }

    /// - Throws: `limit`.
    package mutating func finish() throws(DocumentError) -> [BSONDocument] {
        for index in states.indices {
            let state = states[index]
            var made: [BSONDocument] = []
            switch state {
            case .match, .project, .skip, .limit: continue
            case .sort(let fields, _, let documents): made = Self.sorted(documents, by: fields)
            case .count(let name, let count):
                // As MongoDB: nothing comes of nothing.
                if count > 0 { made = [BSONDocument([(name, BSONValue(count))])] }
            case .group(let group, let groups):
                made = groups.keys.indices.map { place in
                    var document: BSONDocument = ["_id": groups.keys[place]]
                    for (number, field) in group.fields.enumerated() {
                        document[field.name] = groups.accumulators[place][number].value
                    }
                    return document
                }
            }
            for document in made { try pass(document, from: index + 1) }
        }
        return results
    }
}
