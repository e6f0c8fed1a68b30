import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures Sluice; each subcommand prints a table and, with --json, one JSON line at the end.",
        subcommands: [
            MergeBench.self, ApplyBench.self, QueryBench.self, IndexBench.self, ViewsBench.self, AMQPBench.self,
            OwnRealms.self,
            SharedRealm.self,
            OneClient.self,
            Latency.self, Bootstrap.self, QueryChange.self, CommitCost.self,
            Sessions.self, Termination.self, Failover.self, Reconnect.self, OfflineClientBench.self, OfflineServer.self,
            OfflineUpload.self,
            DocumentLatency.self, FeedCost.self, DocumentFiles.self, LocalBench.self, ScaleCommand.self,
            SimulateTermination.self, GenerateCommand.self,
        ])
}
