/// How much is kept of what would otherwise grow for ever.
struct CampaignLimits: Sendable {
    /// Closed campaigns of an app and kind beyond so many newer ones are forgotten, with their client realms.
    var closedCampaigns = 100
    /// Notifications and outcomes of a known campaign that wait for a found report, which may never come.
    var earlyEntries = 100_000
    /// Outcomes whose campaign is not known.
    var parkedOutcomes = 10_000
}
