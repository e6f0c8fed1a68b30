import Hummingbird
import Storage

/// A campaign's progress as lines of JSON: one at once, one for each change, the last when it is closed.
final class CampaignEvents: Sendable {
    private let context: CoordinatorContext
    private let places: EventPlaces
    /// The store is asked, not the process's memory: any coordinator may have applied the reports.
    private let looks: CampaignLooks

    /// The time after which the line is repeated without a change, which also finds out that the client has left.
    private static let repeatAfter: Duration = .seconds(10)

    init(context: CoordinatorContext, places: EventPlaces) {
        self.context = context
        self.places = places
        looks = CampaignLooks(store: context.store)
    }

    func response(campaign: String) async throws -> Response {
        let first = try await context.campaign(campaign)
        return try places.require().response { [self] writer in try await write(first, of: campaign, to: &writer) }
    }

    private func write(
        _ first: CampaignSummary, of campaign: String, to writer: inout any ResponseBodyWriter
    ) async throws {
        var current = first
        var written: CampaignSummary?
        var writtenAt = ContinuousClock.now
        while true {
            if current != written || ContinuousClock.now - writtenAt > Self.repeatAfter {
                try await writer.write(try AdminResponse.line(current))
                (written, writtenAt) = (current, ContinuousClock.now)
            }
            guard current.campaign.state != .closed, !context.state.isStopping else { return }
            try await Task.sleep(for: CampaignLooks.period)
            guard let next = try await looks.campaign(campaign) else { return }
            current = next
        }
    }
}
