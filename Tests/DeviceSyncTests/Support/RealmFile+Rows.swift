@testable import DeviceSync

/// What tests ask of a realm's file.
extension RealmFile {
    func pendingReset() throws -> PendingReset? { try read { ResetRows($0).pending() } }
    func pendingBootstrap() throws -> PendingBootstrap? { try read { try BootstrapRows($0).pending() } }
}
