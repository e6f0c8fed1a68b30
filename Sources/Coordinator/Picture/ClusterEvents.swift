import AdminAPI
import Hummingbird
import SyncModel

/// The cluster's picture as lines of JSON: one at once, one for each change, until the client leaves.
struct ClusterEvents: Sendable {
    let context: CoordinatorContext
    let picture: ClusterPicture
    let places: EventPlaces

    private static let period: Duration = .seconds(1)
    /// The time after which a line is repeated without a change, which also finds out that the client has left.
    private static let repeatAfter: Duration = .seconds(2)

    func response(withSlices: Bool) async throws -> Response {
        let first = await picture.overview()
        return try places.require().response { writer in try await write(first, withSlices, to: &writer) }
    }

    private func write(
        _ first: OverviewDocument, _ withSlices: Bool, to writer: inout any ResponseBodyWriter
    ) async throws {
        var current = first
        var written: OverviewDocument?
        var slices: [SliceNumber: SliceDocument] = [:]
        var writtenAt = ContinuousClock.now
        while true {
            var event = ClusterEvent(overview: current)
            if withSlices {
                let changed = context.slicePictures(at: context.now).filter { slices[$0.slice] != $0 }
                for slice in changed { slices[slice.slice] = slice }
                event.slices = changed
            }
            var same = written
            same?.at = current.at
            if current != same || event.slices?.isEmpty == false
                || ContinuousClock.now - writtenAt > Self.repeatAfter
            {
                try await writer.write(try AdminResponse.line(event))
                (written, writtenAt) = (current, ContinuousClock.now)
            }
            guard !context.state.isStopping else { return }
            try await Task.sleep(for: Self.period)
            current = await picture.overview()
        }
    }
}
