import TestSupport
import Testing

@testable import DeviceSync

/// What an app reads back of the configurations that it makes.
@Suite(.hangGuard)
struct UserConfigurationTests {
    @Test func unsyncedChangesAreRecoveredUnlessTheConfigurationSaysOtherwise() async throws {
        let device = FlexibleDevice()
        let user = try await device.login()
        func mode(_ configuration: Realm.Configuration) -> ResetMode? {
            configuration.syncConfiguration?.clientResetMode.mode
        }
        expectEqual(mode(user.configuration(partitionValue: "p")), .recover)
        expectEqual(mode(user.configuration(partitionValue: AnyBSON.int64(1))), .recover)
        expectEqual(mode(user.flexibleSyncConfiguration()), .recover)
        expectEqual(mode(user.flexibleSyncConfiguration(initialSubscriptions: { _ in })), .recover)
        let modes: [(ClientResetMode, ResetMode)] = [
            (.recoverOrDiscardUnsyncedChanges(), .recoverOrDiscard), (.discardUnsyncedChanges(), .discard),
            (.manual(), .manual),
        ]
        for (given, expected) in modes {
            expectEqual(mode(user.configuration(partitionValue: "p", clientResetMode: given)), expected)
            expectEqual(mode(user.flexibleSyncConfiguration(clientResetMode: given)), expected)
        }
    }
}
