// SPDX-License-Identifier: BSD-3-Clause
// Runs a TFLite model of one input and one output with Arm NN: armnn_run MODEL.tflite IN OUT
#include <armnn/ArmNN.hpp>
#include <armnnTfLiteParser/ITfLiteParser.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    std::ifstream from(argv[2], std::ios::binary);
    std::vector<char> in((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
    const auto parser = armnnTfLiteParser::ITfLiteParser::Create();
    const auto network = parser->CreateNetworkFromBinaryFile(argv[1]);
    const auto input =
        parser->GetNetworkInputBindingInfo(0, parser->GetSubgraphInputTensorNames(0).at(0));
    const auto output =
        parser->GetNetworkOutputBindingInfo(0, parser->GetSubgraphOutputTensorNames(0).at(0));
    const auto runtime = armnn::IRuntime::Create(armnn::IRuntime::CreationOptions());
    auto optimised = armnn::Optimize(*network, {armnn::Compute::CpuRef}, runtime->GetDeviceSpec());
    armnn::NetworkId id;
    if (!optimised || runtime->LoadNetwork(id, std::move(optimised)) != armnn::Status::Success)
        return 1;
    if (in.size() != input.second.GetNumBytes())
        return 3;
    std::vector<char> out(output.second.GetNumBytes());
    const armnn::InputTensors inputs{{input.first, armnn::ConstTensor(input.second, in.data())}};
    const armnn::OutputTensors outputs{{output.first, armnn::Tensor(output.second, out.data())}};
    if (runtime->EnqueueWorkload(id, inputs, outputs) != armnn::Status::Success)
        return 1;
    std::ofstream(argv[3], std::ios::binary)
        .write(out.data(), static_cast<std::streamsize>(out.size()));
    return 0;
}
