package import Changesets
package import ExtendedJSON

/// The stages of an aggregation: `$match $sort $skip $limit $project $count $group`. A `$match` that comes first is a filter of the class's objects;
/// what follows has documents before it that need be no object's. Pure.
package struct Pipeline: Sendable {
    enum Stage: Hashable, Sendable {
        case match(PipelineCondition)
        case sort([SortField])
        case skip(Int)
        case limit(Int)
        case project(PipelineProjection)
        case count(ByteString)
        case group(PipelineGroup)
    }

    struct SortField: Hashable, Sendable {
        var path: PipelinePath
        var isAscending: Bool
    }

    /// The filter of the first stage; empty if that is none.
    package let filter: BSONDocument
    let stages: [Stage]
    let limits: PipelineLimits

    /// - Throws: `unsupportedOperator`, `invalidWrite` or `limit`; the place begins with the stage's number.
    package init(_ stages: [BSONValue], limits: PipelineLimits = PipelineLimits()) throws(DocumentError) {
        guard stages.count <= limits.stages else {
            throw DocumentError(.limit, "expected at most \(limits.stages) stages, came \(stages.count)")
        }
        self.limits = limits
        var filter: BSONDocument = [:]
        var read: [Stage] = []
        for (index, stage) in stages.enumerated() {
            do throws(DocumentError) {
                guard let document = stage.document, document.count == 1, let only = document.members.first else {
                    throw DocumentError(.invalidWrite, "expected an object with one stage, such as {\"$limit\": 10}")
                }
                do throws(DocumentError) {
                    if index == 0, only.key == "$match" {
                        filter = try Self.document(only.value)
                    } else {
                        read.append(try Self.stage(only, limits))
                    }
                } catch {
                    throw error.within(.key(only.key))
                }
            } catch {
                throw error.within(.index(index))
            }
        }
        self.filter = filter
        self.stages = read
    }

    private static func stage(_ stage: BSONDocument.Member, _ limits: PipelineLimits) throws(DocumentError) -> Stage {
        switch stage.key {
        case "$match": return .match(try PipelineCondition(document(stage.value), limits))
        case "$sort": return .sort(try sort(document(stage.value), limits))
        case "$skip": return .skip(try number(stage.value, from: 0))
        case "$limit": return .limit(try number(stage.value, from: 1))
        case "$project": return .project(try PipelineProjection(document(stage.value), limits))
        case "$group": return .group(try PipelineGroup(document(stage.value), limits))
        case "$count":
            guard let name = stage.value.string, !name.isEmpty, !name.bytes.contains(UInt8(ascii: ".")),
                name.first != UInt8(ascii: "$")
            else { throw DocumentError(.invalidWrite, "expected a name without dots and $") }
            return .count(name)
        default:
            throw DocumentError(
                .unsupportedOperator,
                "\(stage.key.string.shortened) is not supported, expected $match, $sort, $skip, $limit, $project, $count or $group"
            )
        }
    }

    private static func document(_ value: BSONValue) throws(DocumentError) -> BSONDocument {
        guard let document = value.document else {
            throw DocumentError(.invalidWrite, "expected an object, came \(value.typeName)")
        }
        return document
    }

    private static func number(_ value: BSONValue, from least: Int64) throws(DocumentError) -> Int {
        guard let number = value.integer, number >= least else {
            throw DocumentError(.invalidWrite, "expected a number from \(least) on, came \(value.typeName)")
        }
        return Int(clamping: number)
    }

    private static func sort(_ sort: BSONDocument, _ limits: PipelineLimits) throws(DocumentError) -> [SortField] {
        guard !sort.isEmpty, sort.count <= limits.terms else {
            throw DocumentError(.limit, "expected 1 to \(limits.terms) fields, came \(sort.count)")
        }
        var fields: [SortField] = []
        for member in sort {
            do throws(DocumentError) {
                guard let direction = member.value.integer, abs(direction) == 1 else {
                    throw DocumentError(
                        .invalidWrite, "expected 1 for ascending or -1 for descending, came \(member.value.typeName)")
                }
                fields.append(
                    SortField(path: try PipelinePath(member.key, limits), isAscending: direction == 1))
            } catch {
                throw error.within(.key(member.key))
            }
        }
        return fields
    }

    /// The fields of the objects that the stages look at; nil: all.
    package var fields: Set<ByteString>? {
        var all: Set<ByteString> = []
        for stage in stages {
            switch stage {
            case .match(let condition): all.formUnion(condition.fields)
            case .sort(let fields): all.formUnion(fields.map(\.path.field))
            case .skip, .limit: break
            case .count: return all
            case .project(let projection): return projection.fields.map(all.union)
            case .group(let group): return group.needed.map(all.union)
            }
        }
        return nil
    }
}
