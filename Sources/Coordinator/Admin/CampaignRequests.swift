import AdminAPI
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Storage
import SyncModel

/// What requests that open a campaign have in common: the campaign's name, the realm that must be there, the answer.
struct CampaignRequests: Sendable {
    let context: CoordinatorContext

    func request(app: String, campaign: String?, reason: String?) throws(AdminError) -> CampaignRequest {
        let id = campaign ?? "\(app)-\(UUID().uuidString.lowercased())"
        let isPlain = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
        guard isPlain, AdminLimits.campaignID.contains(id.utf8.count) else {
            throw .invalid("campaign: expected 1 to 200 printable ASCII characters without blanks and /")
        }
        guard (reason?.utf8.count ?? 0) <= AdminLimits.reason else {
            throw .invalid("reason: expected at most \(AdminLimits.reason) bytes")
        }
        return CampaignRequest(id: id, app: app, reason: reason, at: context.now)
    }

    /// What is asked of a realm that nobody has ever opened is a mistake in its name. Where the slices' stores cannot be read from
    /// here, it passes.
    func requireRealm(_ name: RealmName) async throws {
        guard let stores = context.configuration.stores else { return }
        let slice = name.slice(of: context.slices)
        guard let slices = try? await stores.slices() else { return }
        let realm: RealmRecord?
        do throws(StoreError) {
            realm = slices.contains(slice) ? try await stores.reader(for: slice).realm(name) : nil
        } catch {
            context.logger.debug("whether a realm exists is not known", metadata: ["error": "\(error)"])
            return
        }
        guard realm != nil else { throw AdminError.noRealm(name) }
    }

    /// 201 once the broker has the message. If it is not to be had the campaign is recorded all the same, and the
    /// active coordinator publishes it as soon as it can: 202.
    func answer(_ campaign: CampaignRecord) async throws -> Response {
        var status = HTTPResponse.Status.created
        if campaign.state == .publishing {
            do {
                _ = try await context.publisher.publish(campaign)
            } catch {
                status = .accepted
                context.logger.warning(
                    "campaign recorded, but not published yet",
                    metadata: ["campaign": "\(campaign.id)", "app": "\(campaign.app)", "error": "\(error)"])
            }
        }
        var summary = try await context.campaign(campaign.id)
        summary.slices = nil
        return try AdminResponse.json(summary, status: status)
    }
}
