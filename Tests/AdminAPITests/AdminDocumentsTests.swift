import AdminAPI
import Foundation
import Storage
import TestSupport
import Testing

/// The JSON of the admin API, key by key: scripts and dashboards rest on it.
@Suite struct AdminDocumentsTests {
    /// Decodes a document, and encodes it to the same again.
    private func keeps<Document: Codable>(_ type: Document.Type, _ json: String) throws {
        let document = try JSONDecoder().decode(type, from: Data(json.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        expectEqual(String(decoding: try encoder.encode(document), as: UTF8.self), json)
    }

    @Test func appsKeepTheirKeys() throws {
        let app =
            #"{"anonymousLogin":true,"clientRecovery":true,"compatibility":"stockClients","createdAt":5,"#
            + #""developmentMode":true,"emailPasswordLogin":false,"generation":2,"id":"tasks","maxOfflineDays":30,"#
            + #""syncMode":"partition","syncState":"enabled"}"#
        try keeps(AppDocument.self, app)
        try keeps(AppDocument.self, app.dropLast() + #","users":3}"#)
        try keeps(AppList.self, #"{"apps":[\#(app)]}"#)
        try keeps(
            SchemaDocument.self,
            #"{"classes":[{"name":"Dog","properties":[{"name":"age","type":"int?"}],"type":"object(_id: int)"}]}"#)
        try keeps(AppRequest.self, #"{"compatibility":"convergent","id":"own","maxOfflineDays":3}"#)
        try keeps(AppRequest.self, #"{"changeFeed":"documents"}"#)
        try keeps(AppRequest.self, #"{"quotas":{"realms":null,"userSockets":5}}"#)
        expectEqual(AppRequest(quotas: ["userSockets": 5]).quotas, ["userSockets": 5])
        try keeps(
            AppRequest.self,
            #"{"id":"own","onReadDenied":"keep","onWriteDenied":"error","rules":{"partition":{"read":true,"write":[1,2.5,null]}}}"#
        )
        try keeps(
            AppDocument.self,
            #"{"access":"nobody","anonymousLogin":true,"clientRecovery":true,"compatibility":"stockClients","createdAt":5,"#
                + #""developmentMode":true,"emailPasswordLogin":false,"generation":2,"id":"tasks","maxOfflineDays":30,"#
                + #""onReadDenied":"keep","onWriteDenied":"discard","rulesVersion":3,"syncMode":"partition","syncState":"enabled"}"#
        )
    }

    @Test func rulesKeepTheirKeys() throws {
        let finding = #"{"code":"unknown_key","hint":"h","message":"m","path":"/a","severity":"error"}"#
        try keeps(RulesRequest.self, #"{"replaces":2,"rules":"open"}"#)
        try keeps(RulesCheckRequest.self, #"{"rules":{"values":{"a":"b"}}}"#)
        try keeps(
            RulesAnswer.self,
            #"{"app":"tasks","at":5,"author":"admin","findings":[\#(finding)],"rules":{},"summary":"s","version":2}"#)
        try keeps(
            RulesVersionList.self, #"{"next":"2","versions":[{"at":5,"author":"admin","bytes":7,"version":2}]}"#)
        try keeps(RulesCheckAnswer.self, #"{"findings":[\#(finding)],"rules":{},"summary":"s","valid":true}"#)
        let trace = #"{"condition":"{}","operand":1,"parts":[],"path":"/a","subject":[true],"verdict":"unknown"}"#
        try keeps(
            RulesExplanation.self,
            #"{"app":"tasks","isDisabled":false,"partition":{"partition":"red","read":\#(trace),"reason":"r","rights":"read","#
                + #""write":\#(trace)},"role":{"className":"Dog","definition":{},"list":"/defaultRoles","outcome":"role","#
                + #""reason":"r","role":"own","tried":[{"applyWhen":\#(trace),"path":"/p","role":"own"}]},"summary":"s","#
                + #""user":"u","version":2}"#)
        try keeps(AdminProblem.self, #"{"error":"rules_refused","findings":[\#(finding)],"message":"m"}"#)
    }

    @Test func usersKeepTheirKeys() throws {
        try keeps(
            UserList.self,
            #"{"next":"u","users":[{"createdAt":5,"customData":{"team":"red"},"email":"a@b.c","id":"u","#
                + #""identities":[{"id":"i","provider":"anon-user"}],"isDisabled":true}]}"#)
        try keeps(CustomDataRequest.self, #"{"customData":{"a":1}}"#)
        try keeps(RevocationAnswer.self, #"{"app":"tasks","revoked":2,"user":"u"}"#)
        try keeps(UserRemoval.self, #"{"app":"tasks","user":"u"}"#)
    }

    @Test func campaignsKeepTheirKeys() throws {
        let campaign =
            #"{"app":"tasks","counts":{"discarded":5,"failed":0,"found":121,"manual":2,"notified":90,"pending":43,"#
            + #""recovered":70,"superseded":1,"unknown":0,"unproven":12},"generation":2,"id":"schema-7","kind":"termination","#
            + #""reason":"schema change","slices":[{"chunks":1,"chunksReported":1,"found":15,"slice":0}],"#
            + #""slicesExpected":8,"slicesReported":8,"startedAt":9,"state":"running"}"#
        try keeps(CampaignSummary.self, campaign)
        try keeps(CampaignList.self, #"{"campaigns":[\#(campaign)],"next":"schema-7"}"#)
        try keeps(
            ClientRealmList.self,
            #"{"clientRealms":[{"campaign":"schema-7","clientFile":7,"foundAt":2,"lastSeen":1,"notifiedAt":3,"#
                + #""outcome":"recovered","partition":"\"nw\"","report":{"at":4,"attempt":"a","changesets":{"discarded":0,"#
                + #""emptied":0,"recovered":3,"unsynced":3},"confidence":1,"evidence":"client","identNew":31,"identOld":7,"#
                + #""realm":{"app":"tasks","partition":"\"nw\""},"result":"recovered","user":"u"},"supersededBy":"c8","#
                + #""updatedAt":5,"user":"u"}]}"#)
        try keeps(TerminationRequest.self, #"{"campaign":"c","enable":true,"reason":"r"}"#)
        try keeps(AllowResetsRequest.self, #"{"seconds":60,"slice":3}"#)
        try keeps(AllowedResetsDocument.self, #"{"app":"tasks","seconds":60,"slices":[3]}"#)
        try keeps(ResetRequest.self, #"{"campaign":"c","clientFile":7,"partition":"nw","reason":"r"}"#)
        try keeps(ResetRequest.self, #"{"clientFile":7,"flexible":true}"#)
        try keeps(EraseRequest.self, #"{"confirm":"tasks","dryRun":true}"#)
    }

    @Test func countsOfAnOlderCoordinatorLackWhatItDidNotCount() throws {
        let counts = try JSONDecoder().decode(
            CampaignCounts.self,
            from: Data(
                #"{"discarded":5,"failed":0,"found":10,"manual":2,"notified":9,"pending":1,"recovered":2}"#.utf8))
        expectEqual(counts, CampaignCounts(notified: 9, recovered: 2, discarded: 5, manual: 2, pending: 1))
        expectTrue(counts.superseded == 0 && counts.unproven == 0)
    }

    @Test func plansKeepTheirKeys() throws {
        try keeps(
            PlanDocument.self,
            #"{"alreadyResetting":2,"app":"tasks","at":9,"clientRealms":120,"clientRecovery":true,"generation":1,"#
                + #""lastSeen":[{"clientRealms":80,"within":300,"writers":21},{"clientRealms":7,"writers":2}],"#
                + #""listed":[{"behind":12,"clientFile":17,"hasUploaded":true,"lastSeen":8,"partition":"\"nw\"","#
                + #""platform":"p","slice":5,"user":"u"}],"offlineWriters":11,"platforms":[{"clientRealms":90,"platform":"p"}],"#
                + #""realms":3,"syncState":"enabled","unsyncedBytes":77,"waiting":{"ready":4,"unacknowledged":12,"unknownSlices":[6]},"#
                + #""writers":40}"#)
    }

    @Test func theClusterKeepsItsKeys() throws {
        try keeps(ClusterDocument.self, #"{"active":true,"coordinator":"c","slices":8}"#)
        try keeps(
            SliceList.self,
            #"{"slices":[{"epoch":4,"lastHeardAt":7,"load":1.5,"oldestAt":6,"owner":"w","perSecond":2.5,"slice":0,"#
                + #""standBy":["x"],"unacknowledged":3},{"slice":1,"standBy":[]}]}"#)
        try keeps(
            WorkerList.self,
            #"{"workers":[{"isStaying":true,"lastHeardAt":7,"load":1.5,"owns":[0],"standsBy":[1],"worker":"w"}]}"#)
        try keeps(AdminProblem.self, #"{"error":"not_found","message":"there is no app none"}"#)
    }

    @Test func aRoutesPathHoldsItsValuesEncoded() {
        expectEqual(AdminRoute.apps.path(), "/api/admin/v1/apps")
        expectEqual(
            AdminRoute.clientRealmHistory.path("tasks", "7", query: [(.partition, "\"n w\""), (.limit, nil)]),
            "/api/admin/v1/apps/tasks/client-realms/7?partition=%22n%20w%22")
        expectEqual(AdminRoute.campaign.path("a/b?c"), "/api/admin/v1/campaigns/a%2Fb%3Fc")
    }
}
