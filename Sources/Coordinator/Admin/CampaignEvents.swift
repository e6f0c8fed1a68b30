import AdminAPI
import Foundation
import Hummingbird
import NIOCore
import Storage
import Synchronization

/// A campaign's progress as lines of JSON: one at once, one for each change, the last when it is closed.
final class CampaignEvents: Sendable {
    private let context: CoordinatorContext
    private let places: EventPlaces
    /// The store is asked, not the process's memory: any coordinator may have applied the reports.
    private let looks: CampaignLooks

    /// Without a change the line is repeated so often, which also finds out that the client has left.
    private static let repeatAfter: Duration = .seconds(10)

    init(context: CoordinatorContext, places: EventPlaces) {
        self.context = context
        self.places = places
        looks = CampaignLooks(store: context.store)
    }

    func response(campaign: String) async throws -> Response {
        let first = try await context.campaign(campaign)
        let place = try places.require()
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: ResponseBody { [self] writer in
                // Given back with this closure, also where nobody ever calls it: the client may be gone by then.
                defer { withExtendedLifetime(place) {} }
                try await write(first, of: campaign, to: &writer)
                try await writer.finish(nil)
            })
    }

    private func write(
        _ first: CampaignSummary, of campaign: String, to writer: inout any ResponseBodyWriter
    ) async throws {
        var current = first
        var written: CampaignSummary?
        var writtenAt = ContinuousClock.now
        while true {
            if current != written || ContinuousClock.now - writtenAt > Self.repeatAfter {
                var line = ByteBuffer(bytes: try AdminResponse.encoder.encode(current))
                line.writeString("\n")
                try await writer.write(line)
                (written, writtenAt) = (current, ContinuousClock.now)
            }
            guard current.campaign.state != .closed, !context.state.isStopping else { return }
            try await Task.sleep(for: CampaignLooks.period)
            guard let next = try await looks.campaign(campaign) else { return }
            current = next
        }
    }
}

/// The places of event streams: each is taken by whoever has the token, until nobody has it any more.
final class EventPlaces: Sendable {
    final class Token: Sendable {
        private let places: EventPlaces

        fileprivate init(_ places: EventPlaces) { self.places = places }

        deinit { places.taken.withLock { $0 -= 1 } }
    }

    private let most: Int
    private let taken = Mutex(0)

    init(_ most: Int) { self.most = most }

    var count: Int { taken.withLock { $0 } }

    /// - Throws: `too_many_streams`.
    func require() throws(AdminError) -> Token {
        guard let place = take() else {
            throw AdminError(
                status: .serviceUnavailable, code: "too_many_streams", message: "\(most) event streams are open already"
            )
        }
        return place
    }

    /// - Returns: nil if all are taken.
    func take() -> Token? {
        let isFree = taken.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        return isFree ? Token(self) : nil
    }
}
