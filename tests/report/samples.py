"""Measured rows that the tests of reports make for themselves."""

import math

EVIL = '</script><script>document.title="owned";alert(1)</script>'
HEADER = ("device,model_name,batch_size,dtype,sequence_length,context_window,tokens_per_second_mean,"
          "mfu_percentage_calflops_mean,gpu_utilization_mean,power_draw_watts_mean,calflops_total_mean,"
          "power_meter_active_power_w_mean\n")
# Rough FLOPs of a training step per token.
MODELS = {"gpt2": 0.75e9, "gpt2-medium": 2.1e9, "gpt2-xl": 9.3e9}


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def samples():
    """Two devices, one with a meter and one whose name is a script; power is not linear in MFU, so every class errs."""
    text = HEADER
    for device in ("Fast 9000", EVIL):
        metered = device != EVIL
        text += f"{quoted(device)},baseline,0,,,,,,,25,,{80 if metered else ''}\n"
        for model, flops in MODELS.items():
            for dtype, peak in (("float32", 50e12), ("float16", 100e12)):
                for batch in (1, 4, 16):
                    for repeat in (0, 1):
                        rate = 2e12 * math.sqrt(flops / 1e9) * batch / (1 + 0.1 * batch) + 1e10 * repeat
                        mfu = 100 * rate / peak
                        watts = 60 + (8 if metered else 16) * math.sqrt(mfu) + repeat
                        meter = 40 + 1.25 * watts if metered else ""
                        text += (f"{quoted(device)},{model},{batch},{dtype},100,100,{rate / flops},{mfu},{30 + mfu / 2},"
                                 f"{watts},{flops * 100 * batch},{meter}\n")
    return text
