import AdminAPI
import Foundation
import Hummingbird
import NIOCore
import Storage
import Synchronization

/// A campaign's progress as lines of JSON: one at once, one for each change, the last when it is closed.
final class CampaignEvents: Sendable {
    private let context: CoordinatorContext
    private let open = Mutex(0)

    /// The store is asked, not the process's memory: any coordinator may have applied the reports.
    private static let period: Duration = .milliseconds(300)
    /// Without a change the line is repeated so often, which also finds out that the client has left.
    private static let repeatAfter: Duration = .seconds(10)

    init(context: CoordinatorContext) { self.context = context }

    func response(campaign: String) async throws -> Response {
        let first = try await context.campaign(campaign)
        guard enter() else {
            throw AdminError(
                status: .serviceUnavailable, code: "too_many_streams",
                message: "\(AdminLimits.eventStreams) event streams are open already")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: ResponseBody { [self] writer in
                defer { leave() }
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
            try await Task.sleep(for: Self.period)
            guard let next = try await context.store.campaign(campaign) else { return }
            current = next
        }
    }

    private func enter() -> Bool {
        open.withLock { count in
            guard count < AdminLimits.eventStreams else { return false }
            count += 1
            return true
        }
    }

    private func leave() { open.withLock { $0 -= 1 } }
}
