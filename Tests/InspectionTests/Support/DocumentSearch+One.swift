import Changesets
import Documents
import ExtendedJSON

@testable import Inspection

// Searches of one realm alone.
extension DocumentSearch {
    func distinct(_ field: ByteString, _ wanted: Wanted) async throws -> [BSONValue] {
        var values = try DistinctValues(of: field)
        try await distinct(wanted, into: &values)
        return values.values
    }

    func aggregate(_ pipeline: Pipeline) async throws -> [BSONDocument] {
        var run = PipelineRun(pipeline)
        try await aggregate(pipeline, into: &run)
        return try run.finish()
    }
}
