import Configuration
import SyncModel
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SluiceConfiguration {
    /// Reads the settings: overrides (the flags) win over the environment, that over the file, that over the defaults.
    ///
    /// - Parameters:
    ///   - overrides: by dotted key, such as `gateway.port`.
    ///   - file: a YAML file; it must exist if it is named. Nil: `SLUICE_CONFIG`, else none.
    package static func load(
        overrides: [String: String] = [:], environment: [String: String] = ProcessInfo.processInfo.environment,
        file: String? = nil
    ) async throws(OperationsError) -> SluiceConfiguration {
        let known = Set(SluiceConfiguration().settings.map(\.key))
        if let stranger = overrides.keys.filter({ !known.contains($0) }).sorted().first {
            throw OperationsError(.unknownSetting, "there is no setting \(stranger)")
        }
        let flags = Dictionary(
            overrides.map { (environmentName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(
                environmentVariables: environment.merging(flags) { _, flag in flag }, secretsSpecifier: .all
            ).prefixKeys(with: "sluice")
        ]
        if let path = file ?? environment["SLUICE_CONFIG"], !path.isEmpty {
            do {
                providers.append(
                    try await FileProvider<YAMLSnapshot>(
                        parsingOptions: .init(secretsSpecifier: .all), filePath: FilePath(path)))
            } catch {
                throw OperationsError(
                    .unreadableFile, "the configuration file \(path) cannot be read as YAML", underlying: error)
            }
        }
        return try await read(SettingsReader(reader: ConfigReader(providers: providers)))
    }

    /// The environment variable of a setting.
    package static func environmentName(_ key: String) -> String {
        "SLUICE_" + key.uppercased().map { $0 == "." ? "_" : String($0) }.joined()
    }

    private static func read(_ reader: SettingsReader) async throws(OperationsError) -> SluiceConfiguration {
        var value = SluiceConfiguration()
        let ports = 0...65535
        try await reader.read("id", into: &value.id)
        try await reader.read("amqp.url", into: &value.amqpURL)
        try await reader.read("amqp.prefix", into: &value.prefix)
        try await reader.read("slices", in: 1...4096, into: &value.slices)
        try await reader.read("store.url", into: &value.storeURL)
        try await reader.read("gateway.host", into: &value.gateway.host)
        try await reader.read("gateway.port", in: ports, into: &value.gateway.port)
        try await reader.read("gateway.public_url", into: &value.gatewayPublicURL)
        try await reader.read(
            "gateway.failure_delay_seconds", in: 0...10, into: &value.gatewayFailureDelaySeconds)
        try await reader.read("gateway.max_app_sockets", in: 1...20_000, into: &value.gatewayMaxAppSockets)
        try await reader.readSeconds("gateway.request_seconds", in: 0.1...600, into: &value.requestDeadline)
        try await reader.read("gateway.trusted_proxies", into: &value.trustedProxies)
        try await reader.read("gateway.proxy_protocol", into: &value.proxyProtocol)
        try await reader.read("gateway.spool_folder", into: &value.gatewaySpoolFolder)
        try await reader.read("gateway.password_hashes", in: 1...64, into: &value.passwordHashes)
        try await reader.read("gateway.password_cost", in: 14...20, into: &value.passwordCost)
        try await reader.read("gateway.mail_url", into: &value.mailURL)
        try await reader.read("gateway.mail_secret", into: &value.mailSecret)
        try await reader.read("gateway.mail_command", into: &value.mailCommand)
        if value.mailURL != nil, value.mailCommand != nil {
            throw OperationsError(
                .invalidSetting, "settings gateway.mail_url and gateway.mail_command: expected one of them, found both")
        }
        try await reader.read("coordinator.host", into: &value.coordinator.host)
        try await reader.read("coordinator.port", in: ports, into: &value.coordinator.port)
        try await reader.readSeconds("coordinator.tick_seconds", in: 0.05...3600, into: &value.tickInterval)
        try await reader.read("coordinator.max_dead_letters", in: 10...1_000_000, into: &value.maxDeadLetters)
        try await reader.readSeconds("coordinator.stalled_reader_seconds", in: 1...3600, into: &value.stalledReader)
        try await reader.read("coordinator.public_url", into: &value.coordinatorPublicURL)
        if let url = value.coordinatorPublicURL, !url.hasPrefix("http://"), !url.hasPrefix("https://") {
            throw OperationsError(
                .invalidSetting,
                "setting coordinator.public_url: expected http:// or https://, found \(url.prefix(40))")
        }
        try await reader.read("grafana.url", into: &value.grafanaURL)
        if let url = value.grafanaURL, !url.hasPrefix("http://"), !url.hasPrefix("https://") {
            throw OperationsError(
                .invalidSetting, "setting grafana.url: expected http:// or https://, found \(url.prefix(40))")
        }
        try await reader.read("operations.host", into: &value.operationsHost)
        try await reader.read("operations.port", in: ports, into: &value.operationsPort)
        try await reader.readTLS("gateway", into: &value.gateway.tls)
        try await reader.readTLS("coordinator", into: &value.coordinator.tls)
        try await reader.readTLS("operations", into: &value.operationsTLS)
        try await reader.readSeconds("tls.reload_seconds", in: 0.1...3600, into: &value.certificateInterval)
        try await reader.read("tls.ca_file", into: &value.authoritiesFile)
        try await reader.readToken("admin.token", into: &value.adminToken)
        try await reader.read("admin.token_file", into: &value.adminTokenFile)
        try await reader.read("users.anonymous_days", in: 0...3650, into: &value.anonymousDays)
        try await reader.read("campaigns.open_days", in: 0...3650, into: &value.campaignDays)
        try await reader.read("keys.rotation_days", in: 0...3650, into: &value.keyRotationDays)
        try await reader.read("worker.prefetch", in: 1...2000, into: &value.workerPrefetch)
        try await reader.read("worker.spool_folder", into: &value.spoolFolder)
        try await reader.readSeconds("worker.heartbeat_seconds", in: 0.05...60, into: &value.heartbeatInterval)
        try await reader.readSeconds("worker.lease_seconds", in: 0.2...600, into: &value.leaseDuration)
        let steps = 10_000...1_000_000_000_000
        try await reader.read("worker.upload_merge_steps", in: steps, into: &value.uploadMergeSteps)
        try await reader.read("worker.realm_merge_steps", in: steps, into: &value.realmMergeSteps)
        try await reader.read("worker.app_merge_steps", in: steps, into: &value.appMergeSteps)
        try await reader.read("worker.compaction_versions", in: 10...100_000_000, into: &value.compactionVersions)
        try await reader.read("worker.compaction_bytes", in: 0...(1 << 40), into: &value.compactionBytes)
        try await reader.read("worker.client_file_days", in: 0...36_500, into: &value.clientFileDays)
        try await reader.read("worker.reset_share_percent", in: 1...100, into: &value.resetSharePercent)
        for quota in Quota.allCases {
            try await reader.read(quota.setting, in: quota.bounds, into: &value.quotas[quota])
        }
        try await reader.read("backup.place", into: &value.backupPlace)
        try await reader.read("backup.keep", in: 0...10_000, into: &value.backupKeep)
        try await reader.read("backup.key_file", into: &value.backupKeyFile)
        try await reader.read("backup.passphrase_file", into: &value.backupPassphraseFile)
        if value.backupKeyFile != nil, value.backupPassphraseFile != nil {
            throw OperationsError(
                .invalidSetting,
                "settings backup.key_file and backup.passphrase_file: expected one of them, found both")
        }
        try await reader.read("backup.endpoint", into: &value.backupEndpoint)
        try await reader.read("backup.region", into: &value.backupRegion)
        try await reader.read("backup.access_key", into: &value.backupAccessKey)
        try await reader.read("backup.secret_key", into: &value.backupSecretKey)
        try await reader.read("backup.session_token", into: &value.backupSessionToken)
        try await reader.readSeconds("shutdown.seconds", in: 0.1...3600, into: &value.shutdownDeadline)
        try await reader.readCase("log.level", into: &value.logLevel)
        try await reader.readCase("log.format", into: &value.logFormat)
        return value
    }
}
