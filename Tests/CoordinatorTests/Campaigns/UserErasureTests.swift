import TestSupport
import Testing

@testable import Coordinator

@Suite struct UserErasureTests {
    @Test(arguments: ["65f0", "a.erased-1", "user-x", "ü"]) func aCampaignSaysWhoseRealmItErases(user: String) {
        for index in [0, 7, 12] {
            let campaign = UserErasure.campaign(app: "tasks", user: user, index: index)
            expectEqual(UserErasure.user(ofCampaign: campaign, app: "tasks"), user)
            expectTrue(UserErasure.user(ofCampaign: campaign, app: "other") == nil)
        }
    }

    @Test(arguments: ["tasks.realm-1", "tasks.user-x", "tasks.user-.erased-1", "tasks.user-x.erased-", "drill"])
    func otherCampaignsSayNobody(id: String) {
        expectTrue(UserErasure.user(ofCampaign: id, app: "tasks") == nil)
    }
}
